#include "app/bridges/mcp_bridge.hpp"

#include "app/bridges/mcp_exchange.hpp"
#include "app/daemon/exit_code.hpp"
#include "net/mcp/era.hpp"
#include "net/mcp/rpc.hpp"
#include "net/mcp/server_card.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <semaphore>
#include <set>
#include <thread>
#include <variant>

namespace troupe {

namespace {

namespace asio = boost::asio;
namespace mcp = net::mcp;

constexpr std::size_t longest_line = 32u << 20;
constexpr std::ptrdiff_t lines_ahead = 64; // read and not yet looked at
constexpr std::size_t most_running = 256;
constexpr std::chrono::milliseconds time_to_flush{900};

/// A line, or nothing at the end. One that is too long is read past.
bool read_line(std::string& line) {
  line.clear();
  auto* in = std::cin.rdbuf();
  for (;;) {
    const auto c = in->sbumpc();
    if (c == std::char_traits<char>::eof())
      return !line.empty();
    if (c == '\n')
      return true;
    if (line.size() <= longest_line)
      line += static_cast<char>(c);
  }
}

class mcp_bridge {
public:
  mcp_bridge(const mcp_words& said, const session_options& how)
      : how_{how}, fields_{said.fields()} {}

  int run() {
    const auto work = asio::make_work_guard(io_);
    std::thread reader{[this] { read(); }};
    while (!is_over())
      io_.run_one();
    reader.join(); // it has seen the end of the input
    engine_.reset();
    return exit_ok;
  }

private:
  void read() {
    std::string line;
    while (read_line(line)) {
      room_.acquire();
      asio::post(io_, [this, line] {
        room_.release();
        if (!line.empty() && line != "\r")
          take(line);
      });
    }
    asio::post(io_, [this] { end(); });
  }

  bool is_over() const {
    return ended_ && running_.empty() && telling_ == 0
      && !(engine_ && engine_->listens());
  }

  /// What is under way has a moment to be answered.
  void end() {
    ended_ = true;
    if (engine_)
      engine_->stop();
    last_.expires_after(running_.empty() ? std::chrono::milliseconds{0}
                                         : time_to_flush);
    last_.async_wait([this](boost::system::error_code) {
      for (auto& [id, order] : running_) {
        order->cancelled = true;
        order->abort->cancel();
      }
    });
  }

  static void write(std::string_view message) {
    std::cout << message << '\n' << std::flush;
  }

  void take(const std::string& line) {
    auto read = mcp::read_message(line);
    if (auto* bad = std::get_if<mcp::bad_message>(&read))
      return write(mcp::error_text(bad->id, bad->why));
    auto& message = std::get<mcp::rpc_message>(read);
    const bool modern = message.meta(mcp::meta_names::version) != nullptr;
    if (!message.is_request())
      return take_notification(message);
    if (modern) {
      auto bad = mcp::check_meta(message);
      if (!bad)
        bad = mcp::check_version(message);
      if (bad)
        return write(mcp::error_text(message.id, *bad));
    }
    // Answered here: a client that only looks opens no engine.
    if (modern && message.method == "server/discover")
      return write(mcp::result_text(
        message.id,
        mcp::modern_result(mcp::discover_members(), mcp::cached::for_an_hour)));
    if (!modern && message.method == "initialize")
      return initialize(message);
    if (!modern && message.method == "ping")
      return write(mcp::result_text(message.id, "{}"));
    forward(line, message, modern);
  }

  void take_notification(const mcp::rpc_message& message) {
    const auto* id = message.params.if_contains("requestId");
    if (message.method != "notifications/cancelled" || !id)
      return;
    const auto found = running_.find(json::to_text(*id));
    if (found == running_.end())
      return;
    found->second->cancelled = true;
    if (engine_ && !found->second->modern) {
      ++telling_;
      asio::co_spawn(io_, engine_->cancel(found->first),
                     [this](std::exception_ptr) { --telling_; });
    }
    found->second->abort->cancel();
  }

  void initialize(const mcp::rpc_message& message) {
    const auto asked = message.text("protocolVersion");
    std::string version;
    const auto result
      = mcp::initialize_result(asked ? *asked : std::string_view{}, version);
    version_ = version;
    write(mcp::result_text(message.id, result));
  }

  void forward(const std::string& line, const mcp::rpc_message& message,
               bool modern) {
    if (running_.size() >= most_running || running_.contains(message.id))
      return write(mcp::error_text(
        message.id,
        {200, mcp::codes::invalid_request,
         "Too many requests at a time, or an id that is in use"}));
    if (auto opened = open(); !opened)
      return write(mcp::error_text(
        message.id, {200, mcp::codes::internal_error, opened.error().text}));
    auto order = std::make_shared<mcp_order>();
    order->line = line;
    order->id = message.id;
    order->method = message.method;
    if (const auto name
        = message.text(message.method == "resources/read" ? "uri" : "name"))
      order->name = std::string{*name};
    order->modern = modern;
    running_[message.id] = order;
    asio::co_spawn(
      io_, engine_->send(order), [this, order](std::exception_ptr failed) {
        if (failed && !order->cancelled)
          write(mcp::error_text(
            order->id, {200, mcp::codes::internal_error, "Internal error"}));
        running_.erase(order->id);
        if (ended_ && running_.empty())
          io_.stop();
      });
  }

  result<void> open() {
    if (engine_)
      return {};
    auto place = find_or_open_engine(how_);
    if (!place)
      return place.error();
    engine_
      = std::make_unique<mcp_exchange>(io_.get_executor(), std::move(*place),
                                       fields_, version_, &mcp_bridge::write);
    return {};
  }

  const session_options& how_;
  const std::vector<std::pair<std::string, std::string>> fields_;
  asio::io_context io_{1};
  asio::steady_timer last_{io_};
  std::counting_semaphore<lines_ahead> room_{lines_ahead};
  std::unique_ptr<mcp_exchange> engine_;
  std::map<std::string, std::shared_ptr<mcp_order>> running_;
  std::string version_{mcp::legacy_versions.front()};
  std::size_t telling_ = 0; // cancellations on their way
  bool ended_ = false;
};

} // namespace

std::vector<std::pair<std::string, std::string>> mcp_words::fields() const {
  std::vector<std::pair<std::string, std::string>> all;
  auto name = session;
  if (const auto* said = std::getenv("TROUPE_SESSION"); name.empty() && said)
    name = said;
  for (auto& [field, value] :
       {std::pair{"troupe-session", name},
        {"troupe-toolsets", toolsets},
        {"troupe-tools", tools},
        {"troupe-exclude", exclude},
        {"troupe-readonly", std::string{read_only ? "1" : ""}}})
    if (!value.empty())
      all.emplace_back(field, value);
  return all;
}

int serve_mcp(const mcp_words& said, const session_options& how) {
  return mcp_bridge{said, how}.run();
}

} // namespace troupe
