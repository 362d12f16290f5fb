#include "app/bridges/mcp_exchange.hpp"

#include "app/daemon/engine_process.hpp"
#include "net/mcp/era.hpp"
#include "net/mcp/rpc.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/writer.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>

namespace troupe {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace mcp = net::mcp;

constexpr std::chrono::minutes patience{10};
constexpr std::chrono::hours listening{24};
constexpr std::size_t max_answer_bytes = 64u << 20;

/// What cannot stand in a field as it is goes there in Base64.
std::string field_value(std::string_view text) {
  const bool plain = !text.empty() && text.front() != ' ' && text.back() != ' '
    && !text.starts_with("=?base64?")
    && std::all_of(text.begin(), text.end(),
                   [](char c) { return c >= 0x20 && c < 0x7f; });
  return plain ? std::string{text}
               : "=?base64?" + frame::to_base64(text) + "?=";
}

/// The messages of a stream of events, as they come.
class event_lines {
public:
  explicit event_lines(mcp_exchange::writer write) : write_{std::move(write)} {}

  void take(std::string_view piece) {
    rest_ += piece;
    for (std::size_t end; (end = rest_.find('\n')) != rest_.npos;) {
      const auto line = std::string_view{rest_}.substr(0, end);
      if (line.starts_with("data: "))
        write_(line.substr(6));
      rest_.erase(0, end + 1);
    }
  }

private:
  const mcp_exchange::writer write_;
  std::string rest_;
};

bool is_stream(const net::client_response& head) {
  return head.ok()
    && std::string_view{head.headers[http::field::content_type]}.starts_with(
      "text/event-stream");
}

/// A reader that writes what a stream tells, unless it is not wanted any more.
net::stream_reader reader_for(const mcp_exchange::writer& write,
                              std::shared_ptr<mcp_order> order) {
  auto lines = std::make_shared<event_lines>(write);
  net::stream_reader reader;
  reader.head = is_stream;
  reader.data = [lines, order = std::move(order)](std::string_view piece) {
    if (order && order->cancelled)
      return false;
    lines->take(piece);
    return true;
  };
  return reader;
}

} // namespace

mcp_exchange::mcp_exchange(
  asio::any_io_executor executor, engine_locator place,
  std::vector<std::pair<std::string, std::string>> fields, std::string version,
  writer write)
    : executor_{executor}, place_{std::move(place)}, client_{std::in_place,
                                                             executor,
                                                             place_.client},
      fields_{std::move(fields)}, version_{std::move(version)}, write_{
                                                                  std::move(
                                                                    write)} {}

mcp_exchange::~mcp_exchange() {
  client_.reset(); // its connections first: the engine waits for them
  if (place_.own)
    place_.own->stop();
}

net::client_request mcp_exchange::request(std::string body) const {
  net::client_request r;
  r.service = place_.server;
  r.method = http::verb::post;
  r.target = "/mcp";
  r.headers.set(http::field::content_type, "application/json");
  r.headers.set(http::field::accept, "application/json, text/event-stream");
  if (!place_.key.empty())
    r.headers.set(http::field::authorization,
                  "Bearer " + std::string{place_.key.reveal()});
  for (const auto& [name, value] : fields_)
    r.headers.set(name, value);
  r.body = std::move(body);
  r.deadline = std::chrono::steady_clock::now() + patience;
  r.max_body_bytes = max_answer_bytes;
  return r;
}

net::client_request mcp_exchange::request_for(const mcp_order& order) const {
  auto r = request(order.line);
  r.abort = order.abort;
  if (!order.modern) {
    r.headers.set("mcp-session-id", session_);
    r.headers.set("mcp-protocol-version", version_);
    return r;
  }
  r.headers.set("mcp-protocol-version", mcp::modern_version);
  r.headers.set("mcp-method", field_value(order.method));
  if (!order.name.empty())
    r.headers.set("mcp-name", field_value(order.name));
  if (order.method == "subscriptions/listen")
    r.deadline = std::chrono::steady_clock::now() + listening;
  return r;
}

asio::awaitable<result<void>> mcp_exchange::open_session() {
  json::object_writer params;
  params.text("protocolVersion", version_)
    .raw("capabilities", "{}")
    .raw("clientInfo", R"({"name":"troupe mcp","version":"1"})");
  auto asked
    = request(R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":)"
              + params.finish() + "}");
  auto came = co_await client_->send(std::move(asked));
  if (!came.answer)
    co_return came.answer.error();
  if (!came.answer->ok())
    co_return fail(ec::denied,
                   "the engine answered " + std::to_string(came.answer->status)
                     + " " + came.answer->body.substr(0, 500));
  const bool first = session_.empty();
  session_ = std::string{came.answer->headers["mcp-session-id"]};
  if (first && !heard_->cancelled()) {
    listens_ = true;
    auto heard = listen();
    asio::co_spawn(executor_, std::move(heard),
                   [this](std::exception_ptr) { listens_ = false; });
  }
  co_return result<void>{};
}

/// Changes that the engine tells by itself, while the session lasts.
asio::awaitable<void> mcp_exchange::listen() {
  auto asked = request({});
  asked.method = http::verb::get;
  asked.headers.erase(http::field::content_type);
  asked.headers.set(http::field::accept, "text/event-stream");
  asked.abort = heard_;
  asked.headers.set("mcp-session-id", session_);
  asked.headers.set("mcp-protocol-version", version_);
  asked.deadline = std::chrono::steady_clock::now() + listening;
  auto reader = reader_for(write_, nullptr);
  co_await client_->stream(std::move(asked), std::move(reader));
}

asio::awaitable<void> mcp_exchange::send(std::shared_ptr<mcp_order> order) {
  if (!order->modern && session_.empty()) {
    auto opened = co_await open_session();
    if (!opened) {
      write_(mcp::error_text(
        order->id, {200, mcp::codes::internal_error, opened.error().text}));
      co_return;
    }
  }
  co_await post(std::move(order), false);
}

asio::awaitable<void> mcp_exchange::post(std::shared_ptr<mcp_order> order,
                                         bool again) {
  auto asked = request_for(*order);
  auto reader = reader_for(write_, order);
  auto came = co_await client_->stream(std::move(asked), std::move(reader));
  // The engine was started anew and knows the session no more.
  if (came.answer && came.answer->status == 404 && !order->modern && !again) {
    auto opened = co_await open_session();
    if (opened) {
      co_await post(order, true);
      co_return;
    }
  }
  answer(*order, came);
}

void mcp_exchange::answer(const mcp_order& order,
                          const net::client_exchange& came) {
  if (order.cancelled)
    return;
  if (!came.answer)
    return write_(mcp::error_text(
      order.id,
      {200, mcp::codes::internal_error,
       "The engine did not answer: " + came.answer.error().text}));
  if (is_stream(*came.answer))
    return; // all of it was written
  const auto& body = came.answer->body;
  auto parsed = json::parse_object(body, {.bytes = max_answer_bytes});
  if (parsed && parsed->contains("id"))
    return write_(body);
  mcp::rpc_error why{200, mcp::codes::invalid_request,
                     "The engine answered "
                       + std::to_string(came.answer->status)};
  if (parsed)
    if (const auto* said = parsed->if_contains("error");
        said && said->is_object())
      if (const auto* text = said->get_object().if_contains("message");
          text && text->is_string())
        why.message = std::string{text->get_string()};
  if (came.answer->status == 401)
    why.message += "; set TROUPE_API_KEY, or --key-file";
  write_(mcp::error_text(order.id, why));
}

asio::awaitable<void> mcp_exchange::cancel(std::string id) {
  if (session_.empty())
    co_return;
  auto asked
    = request(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)"
              R"({"requestId":)"
              + id + "}}");
  asked.headers.set("mcp-session-id", session_);
  asked.headers.set("mcp-protocol-version", version_);
  co_await client_->send(std::move(asked));
}

} // namespace troupe
