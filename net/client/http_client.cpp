#include "net/client/http_client.hpp"

#include "net/client/connection.hpp"
#include "net/fail.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <sstream>
#include <tuple>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using steady = std::chrono::steady_clock;

namespace {

// A thousand runs wait in a read at the same time.
constexpr std::size_t read_piece_bytes = 8u << 10;

error broken(const client_request& request, std::string_view doing,
             const boost::system::error_code& why) {
  auto late = why == boost::beast::error::timeout;
  return fail(late ? ec::timeout : ec::unavailable,
              std::string{doing} + " " + request.service.authority() + ": "
                + (late ? "the deadline passed" : why.message()));
}

bool called_off(const client_request& request) {
  return request.abort && request.abort->tripped();
}

std::chrono::milliseconds until(steady::time_point deadline) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline
                                                               - steady::now());
}

std::size_t body_bytes(const client_request& r) {
  return r.body.size() + (r.body_head ? r.body_head->size() : 0);
}

/// Some servers miss the body when there is none.
bool wants_length(const client_request& r) {
  return r.method == http::verb::post || r.method == http::verb::put;
}

/// One attempt and how far it came.
struct attempt {
  result<client_response> answer;
  bool sent = false; // the service may have acted
};

} // namespace

class http_client::impl {
public:
  impl(asio::any_io_executor ex, client_options options)
      : executor_{std::move(ex)}, options_{std::move(options)},
        tls_{make_client_tls(options_.ca_file)} {}

  asio::awaitable<client_exchange> run(client_request request,
                                       stream_reader reader);

  client_counters counters;
  asio::any_io_executor executor_;

private:
  struct host_pool {
    std::deque<connection_ptr> idle; // the most recently used one in front
    std::size_t open = 0;
  };
  using pool_key = std::tuple<bool, std::string, std::uint16_t, bool>;

  asio::awaitable<result<connection_ptr>>
  obtain(const client_request& request, const pool_key& key, bool fresh);
  asio::awaitable<result<connection_ptr>> open(const client_request& request);
  void give_back(const pool_key& key, connection_ptr link, bool reusable);

  asio::awaitable<attempt> once(const client_request& request,
                                const stream_reader& reader, bool fresh);
  template <class Stream>
  asio::awaitable<attempt> talk(Stream& stream, connection& link,
                                const client_request& request,
                                const stream_reader& reader, bool& reusable);
  template <class Stream>
  asio::awaitable<boost::system::error_code>
  write(Stream& stream, const client_request& request);
  template <class Stream, class Parser>
  asio::awaitable<result<void>>
  read_body(Stream& stream, connection& link, Parser& parser,
            const client_request& request, const stream_reader& reader,
            client_response& response);
  void fill(http::request_header<>& head, const client_request& request) const;

  client_options options_;
  result<std::shared_ptr<asio::ssl::context>> tls_;
  resolver resolver_;
  std::map<pool_key, host_pool> pools_;
  std::mt19937_64 random_{std::random_device{}()};
};

// -- connections --------------------------------------------------------------

asio::awaitable<result<connection_ptr>>
http_client::impl::open(const client_request& request) {
  if (!tls_)
    co_return tls_.error();
  auto soon
    = std::min(request.deadline, steady::now() + options_.connect_timeout);
  auto places = co_await resolver_.resolve(
    request.service.host, request.service.port, soon, request.rule);
  if (!places)
    co_return places.error();
  auto link = std::make_unique<connection>(executor_);
  ++counters.connections_opened;
  auto opened
    = co_await link->open(request.service, std::move(*places), **tls_, soon);
  if (!opened)
    co_return opened.error();
  co_return std::move(link);
}

asio::awaitable<result<connection_ptr>>
http_client::impl::obtain(const client_request& request, const pool_key& key,
                          bool fresh) {
  auto& pool = pools_[key];
  while (!fresh && !pool.idle.empty()) {
    auto link = std::move(pool.idle.front());
    pool.idle.pop_front();
    if (steady::now() - link->idle_since < options_.idle_timeout
        && link->usable()) {
      ++counters.connections_reused;
      co_return std::move(link);
    }
    link->close();
    --pool.open;
  }
  if (pool.open >= options_.max_connections_per_host)
    co_return fail(ec::exhausted,
                   "too many connections to " + request.service.authority());
  ++pool.open;
  auto link = co_await open(request);
  if (!link)
    --pools_[key].open;
  co_return std::move(link);
}

void http_client::impl::give_back(const pool_key& key, connection_ptr link,
                                  bool reusable) {
  auto& pool = pools_[key];
  if (reusable && pool.idle.size() < options_.max_idle_per_host) {
    link->never_expires();
    link->idle_since = steady::now();
    pool.idle.push_front(std::move(link));
    return;
  }
  link->close();
  --pool.open;
}

// -- one exchange
// ---------------------------------------------------------------

void http_client::impl::fill(http::request_header<>& head,
                             const client_request& request) const {
  head.method(request.method);
  head.target(request.service.prefix + request.target);
  head.version(11);
  for (const auto& field : request.headers)
    head.insert(field.name(), field.name_string(), field.value());
  head.set(http::field::host, request.service.authority());
  if (head.find(http::field::user_agent) == head.end())
    head.set(http::field::user_agent, options_.user_agent);
}

template <class Stream>
asio::awaitable<boost::system::error_code>
http_client::impl::write(Stream& stream, const client_request& request) {
  boost::system::error_code why;
  http::request<http::empty_body> message;
  fill(message, request);
  if (request.body_pieces)
    message.chunked(true);
  else if (auto size = body_bytes(request); size > 0 || wants_length(request))
    message.content_length(size);
  if (!request.body_pieces) {
    // Small ones go out with their head, in one packet.
    std::ostringstream head;
    head << message.base();
    auto text = std::move(head).str();
    std::array<asio::const_buffer, 3> all{asio::buffer(text),
                                          request.body_head
                                            ? asio::buffer(*request.body_head)
                                            : asio::const_buffer{},
                                          asio::buffer(request.body)};
    co_await asio::async_write(stream, all,
                               asio::redirect_error(asio::use_awaitable, why));
    co_return why;
  }
  http::request_serializer<http::empty_body> serializer{message};
  co_await http::async_write_header(
    stream, serializer, asio::redirect_error(asio::use_awaitable, why));
  while (!why) {
    auto piece = request.body_pieces();
    if (!piece)
      break;
    if (piece->empty())
      continue;
    auto chunk = http::make_chunk(asio::buffer(*piece));
    co_await asio::async_write(stream, chunk,
                               asio::redirect_error(asio::use_awaitable, why));
  }
  if (!why) {
    auto last = http::make_chunk_last();
    co_await asio::async_write(stream, last,
                               asio::redirect_error(asio::use_awaitable, why));
  }
  co_return why;
}

template <class Stream, class Parser>
asio::awaitable<result<void>>
http_client::impl::read_body(Stream& stream, connection& link, Parser& parser,
                             const client_request& request,
                             const stream_reader& reader,
                             client_response& response) {
  auto streamed = reader.data && (!reader.head || reader.head(response));
  std::string piece(read_piece_bytes, '\0');
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    boost::system::error_code why;
    // What has come, not a full buffer: a stream's reader waits for it.
    co_await http::async_read_some(
      stream, link.buffer(), parser,
      asio::redirect_error(asio::use_awaitable, why));
    if (why == http::error::need_buffer)
      why = {};
    // The stream's timer sleeps while there is always something to read.
    if (!why && steady::now() >= request.deadline)
      why = boost::beast::error::timeout;
    if (why)
      co_return broken(request, "read from", why);
    auto bytes = std::string_view{piece}.substr(0, piece.size() - body.size);
    if (bytes.empty())
      continue; // framing only
    if (streamed) {
      if (!reader.data(bytes))
        co_return fail(ec::unavailable, "the reader had enough");
    } else {
      if (response.body.size() + bytes.size() > request.max_body_bytes)
        co_return fail(ec::unavailable,
                       "the reply of " + request.service.authority()
                         + " is over " + std::to_string(request.max_body_bytes)
                         + " bytes");
      response.body += bytes;
    }
  }
  co_return result<void>{};
}

template <class Stream>
asio::awaitable<attempt>
http_client::impl::talk(Stream& stream, connection& link,
                        const client_request& request,
                        const stream_reader& reader, bool& reusable) {
  link.expires_at(request.deadline);
  if (auto why = co_await write(stream, request); why)
    co_return attempt{broken(request, "send to", why), true};
  http::response_parser<http::buffer_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser.body_limit(boost::none);
  parser.skip(request.method == http::verb::head);
  // 1xx answers come before the real one; a flood of them is not waited for.
  boost::system::error_code why;
  co_await http::async_read_header(
    stream, link.buffer(), parser,
    asio::redirect_error(asio::use_awaitable, why));
  if (why)
    co_return attempt{broken(request, "read from", why), true};
  client_response response;
  response.status = parser.get().result_int();
  response.headers = parser.get().base();
  if (response.status < 200)
    co_return attempt{fail(ec::unavailable,
                           request.service.authority()
                             + " answered with an interim status only"),
                      true};
  auto body
    = co_await read_body(stream, link, parser, request, reader, response);
  if (!body)
    co_return attempt{body.error(), true};
  reusable = parser.get().keep_alive();
  co_return attempt{std::move(response), true};
}

asio::awaitable<attempt> http_client::impl::once(const client_request& request,
                                                 const stream_reader& reader,
                                                 bool fresh) {
  pool_key key{request.service.tls, request.service.host, request.service.port,
               static_cast<bool>(request.rule)};
  auto link = co_await obtain(request, key, fresh);
  if (!link)
    co_return attempt{link.error(), false};
  auto reusable = false;
  auto& held = **link;
  attempt out{fail(ec::unavailable, "the request was called off"), false};
  if (request.abort)
    request.abort->arm([&held] { held.close(); });
  if (called_off(request))
    reusable = true;
  else if (held.is_tls())
    out = co_await talk(held.tls(), held, request, reader, reusable);
  else
    out = co_await talk(held.plain(), held, request, reader, reusable);
  if (request.abort)
    request.abort->disarm();
  give_back(key, std::move(*link), reusable);
  co_return out;
}

// -- tries
// ----------------------------------------------------------------------

asio::awaitable<client_exchange> http_client::impl::run(client_request request,
                                                        stream_reader reader) {
  ++counters.requests;
  client_exchange out{
    fail(ec::timeout, "the deadline passed before the first try"), false, 0};
  auto repeatable = !request.body_pieces; // a stream cannot be wound back
  while (until(request.deadline).count() > 0) {
    ++out.tries;
    auto last = co_await once(request, reader, out.tries > 1);
    std::optional<std::chrono::milliseconds> retry_after;
    bool again = false;
    if (last.answer) {
      auto status = last.answer->status;
      again = is_refusal_status(status)
        || (request.idempotent && is_retryable_status(status));
      retry_after = retry_after_of(last.answer->headers,
                                   std::chrono::system_clock::now());
    } else {
      auto code = last.answer.error().code;
      again = code == ec::unavailable && (!last.sent || request.idempotent);
    }
    out.may_have_acted = last.sent;
    out.answer = std::move(last.answer);
    if (!again || !repeatable || called_off(request))
      break;
    std::uniform_real_distribution<double> unit{0, 1};
    auto delay = retry_delay(request.retry, out.tries + 1, unit(random_),
                             retry_after, until(request.deadline));
    if (!delay)
      break;
    ++counters.retries;
    auto on
      = co_await pause(executor_, *delay, request.deadline, request.abort);
    if (!on)
      break;
  }
  if (!out.answer)
    ++counters.failures;
  co_return out;
}

http_client::http_client(asio::any_io_executor executor, client_options options)
    : impl_{std::make_shared<impl>(std::move(executor), std::move(options))} {}

http_client::~http_client() = default;

asio::awaitable<client_exchange> http_client::send(client_request request) {
  return stream(std::move(request), stream_reader{});
}

asio::awaitable<client_exchange> http_client::stream(client_request request,
                                                     stream_reader reader) {
  auto keep = impl_;
  auto out = co_await keep->run(std::move(request), std::move(reader));
  co_return out;
}

const client_counters& http_client::counters() const {
  return impl_->counters;
}

asio::any_io_executor http_client::executor() const {
  return impl_->executor_;
}

} // namespace troupe::net
