#include "actors/cluster/link_listener.hpp"

#include "actors/cluster/basp_adapter.hpp"
#include "actors/cluster/link_tls.hpp"
#include "actors/cluster/tls_link.hpp"
#include "runtime/async/watchdog.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <set>
#include <thread>

namespace troupe {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

// Out of descriptors, most likely: others must let go first.
constexpr std::chrono::milliseconds pause_after_failure{100};

// The last answers are still on their way when everybody has been stopped: a
// link is closed when it was quiet for a while, or in the end.
constexpr std::chrono::milliseconds quiet{50};
constexpr int longest_farewell = 40; // times that

class tls_link_listener final : public link_listener {
public:
  tls_link_listener(caf::actor_system& system,
                    std::function<gateway_actor()> gate,
                    std::function<void(std::string_view)> report)
      : system_{system}, gate_{std::move(gate)}, report_{std::move(report)},
        broker_{basp_broker_of(system)} {}

  ~tls_link_listener() override {
    if (!thread_.joinable())
      return;
    watched_.stop();
    auto work = close_all();
    asio::co_spawn(io_, std::move(work), asio::detached);
    busy_.reset();
    thread_.join();
  }

  result<void> open(const link_options& options);
  std::uint16_t port() const override { return port_; }

private:
  asio::awaitable<void> accept_all();
  asio::awaitable<void> close_all();
  asio::awaitable<void> serve(tcp::socket raw);

  caf::actor_system& system_;
  const std::function<gateway_actor()> gate_;
  const std::function<void(std::string_view)> report_;
  const caf::actor broker_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::uint32_t max_links_ = 0;
  std::uint32_t max_handshakes_ = 0;
  std::chrono::milliseconds silence_{};
  std::uint32_t up_ = 0; // of links_, on the thread
  std::uint16_t port_ = 0;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy_{
    io_.get_executor()};
  tcp::acceptor acceptor_{io_};
  std::set<std::shared_ptr<tls_link>> links_; // on the thread
  watchdog::watched watched_;
  std::thread thread_;
};

error cannot_listen(const std::string& where, const std::string& why) {
  return {ec::unavailable, "listen for nodes on " + where + ": " + why, {}, {}};
}

result<void> tls_link_listener::open(const link_options& options) {
  auto tls = make_link_context(options.identity, link_side::answers);
  if (!tls)
    return tls.error();
  tls_ = std::move(*tls);
  max_links_ = options.max_links;
  silence_ = options.beats.silence;
  max_handshakes_ = options.max_handshakes;
  const auto colon = options.listen.rfind(':');
  if (colon == std::string::npos)
    return cannot_listen(options.listen, "it is not host:port");
  auto host = options.listen.substr(0, colon);
  if (host.size() > 2 && host.front() == '[')
    host = host.substr(1, host.size() - 2);
  boost::system::error_code failed;
  auto found = tcp::resolver{io_}.resolve(
    host, options.listen.substr(colon + 1), tcp::resolver::passive, failed);
  if (failed || found.empty())
    return cannot_listen(options.listen, failed.message());
  const auto where = found.begin()->endpoint();
  acceptor_.open(where.protocol(), failed);
  if (!failed)
    acceptor_.set_option(tcp::acceptor::reuse_address{true}, failed);
  if (!failed)
    acceptor_.bind(where, failed);
  if (!failed)
    acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    return cannot_listen(options.listen, failed.message());
  port_ = acceptor_.local_endpoint().port();
  auto work = accept_all();
  asio::co_spawn(io_, std::move(work), asio::detached);
  thread_ = std::thread{[this] { io_.run(); }};
  if (options.watch)
    watched_ = options.watch->turns("links", io_.get_executor());
  return {};
}

asio::awaitable<void> tls_link_listener::accept_all() {
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  while (acceptor_.is_open()) {
    tcp::socket raw{io_};
    co_await acceptor_.async_accept(raw, token);
    // Strangers cannot take the places of those who are known.
    if (!failed && links_.size() - up_ < max_handshakes_) {
      auto work = serve(std::move(raw));
      asio::co_spawn(io_, std::move(work), asio::detached);
    } else if (failed && acceptor_.is_open()) {
      asio::steady_timer pause{io_, pause_after_failure};
      co_await pause.async_wait(token);
    }
  }
}

asio::awaitable<void> tls_link_listener::close_all() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  asio::steady_timer pause{io_};
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  bool busy = !links_.empty();
  for (int i = 0; busy && i < longest_farewell; ++i) {
    pause.expires_after(quiet);
    co_await pause.async_wait(token);
    busy = false;
    for (const auto& link : links_)
      busy = link->is_telling() || busy;
  }
  for (const auto& link : links_)
    link->close();
}

asio::awaitable<void> tls_link_listener::serve(tcp::socket raw) {
  boost::system::error_code ignored;
  auto from = raw.remote_endpoint(ignored);
  auto link = std::make_shared<tls_link>(std::move(raw), tls_,
                                         largest_request_frame, silence_);
  links_.insert(link);
  auto met = co_await link->handshake_as_server();
  if (met && up_ >= max_links_)
    met = error{ec::exhausted, "too many cluster connections", {}, {}};
  auto gate = gate_();
  if (met && !gate)
    met = error{ec::unavailable, "the gateway is restarting"};
  if (met) {
    auto fd = link->take_caf_socket();
    if (fd) {
      ++up_;
      adopt_inbound(system_, broker_, *fd, gate);
      co_await link->relay();
      --up_;
    } else {
      met = fd.error();
    }
  }
  if (!met && report_)
    report_("refused cluster connection from " + from.address().to_string()
            + ": " + met.error().text);
  link->close();
  links_.erase(link);
}

} // namespace

result<std::unique_ptr<link_listener>> link_listener::open(
  caf::actor_system& system, std::function<gateway_actor()> gate,
  const link_options& options, std::function<void(std::string_view)> report) {
  auto made = std::make_unique<tls_link_listener>(system, std::move(gate),
                                                  std::move(report));
  if (auto ok = made->open(options); !ok)
    return ok.error();
  return std::unique_ptr<link_listener>{std::move(made)};
}

} // namespace troupe
