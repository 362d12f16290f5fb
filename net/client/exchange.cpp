#include "net/client/exchange.hpp"

#include "runtime/base/error.hpp"

#include <boost/beast/http.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using steady = std::chrono::steady_clock;
using boost::system::error_code;

namespace {

// A thousand runs wait in a read at the same time.
constexpr std::size_t body_piece_bytes = 8u << 10;
// Who waits holds little; who is kept busy reads more at a time.
constexpr std::size_t min_read_bytes = 512;
constexpr std::size_t max_read_bytes = 64u << 10;

error broken(const client_request& request, std::string_view doing,
             const error_code& why) {
  auto late = why == boost::beast::error::timeout;
  return fail(late ? ec::timeout : ec::unavailable,
              std::string{doing} + " " + request.service.authority() + ": "
                + (late ? "the deadline passed" : why.message()));
}

// -- the request --------------------------------------------------------------

std::size_t body_bytes(const client_request& r) {
  return r.body.size() + (r.body_head ? r.body_head->size() : 0);
}

/// Some servers miss the body when there is none.
bool wants_length(const client_request& r) {
  return r.method == http::verb::post || r.method == http::verb::put;
}

std::string head_of(const client_request& request,
                    const client_options& options) {
  http::request_header<> head;
  head.method(request.method);
  head.target(request.service.prefix + request.target);
  head.version(11);
  for (const auto& field : request.headers)
    head.insert(field.name(), field.name_string(), field.value());
  head.set(http::field::host, request.service.authority());
  if (head.find(http::field::user_agent) == head.end())
    head.set(http::field::user_agent, options.user_agent);
  // Whose work it is. No tracestate, no baggage: what we say about ourselves
  // is nobody else's business.
  if (!request.traceparent.empty())
    head.set("traceparent", request.traceparent);
  if (request.body_pieces)
    head.set(http::field::transfer_encoding, "chunked");
  else if (auto size = body_bytes(request); size > 0 || wants_length(request))
    head.set(http::field::content_length, std::to_string(size));
  std::ostringstream text;
  text << head;
  return std::move(text).str();
}

asio::awaitable<error_code> send_pieces(client_connection& link,
                                        const client_request& request,
                                        std::string head) {
  std::array<asio::const_buffer, 1> whole{asio::buffer(head)};
  auto why = co_await link.write(whole);
  while (!why) {
    auto piece = request.body_pieces();
    if (!piece)
      break;
    if (piece->empty())
      continue;
    std::ostringstream size;
    size << std::hex << piece->size() << "\r\n";
    auto line = std::move(size).str();
    std::array<asio::const_buffer, 3> chunk{
      asio::buffer(line), asio::buffer(*piece), asio::buffer("\r\n", 2)};
    why = co_await link.write(chunk);
  }
  if (!why) {
    whole = {asio::buffer("0\r\n\r\n", 5)};
    why = co_await link.write(whole);
  }
  co_return why;
}

asio::awaitable<error_code> send(client_connection& link,
                                 const client_request& request,
                                 const client_options& options) {
  auto head = head_of(request, options);
  if (request.body_pieces)
    co_return co_await send_pieces(link, request, std::move(head));
  // Small ones go out with their head, in one packet.
  std::array<asio::const_buffer, 3> all{
    asio::buffer(head),
    request.body_head ? asio::buffer(*request.body_head) : asio::const_buffer{},
    asio::buffer(request.body)};
  co_return co_await link.write(all);
}

// -- the reply ----------------------------------------------------------------

using reply_parser = http::response_parser<http::buffer_body>;

/// Lets the parser go on: with what is there, else with what comes next.
/// `pace` is how much is read at a time; it doubles while that is always there.
asio::awaitable<error_code> advance(client_connection& link,
                                    reply_parser& parser, std::size_t& pace) {
  auto& buffer = link.buffer();
  for (;;) {
    error_code why;
    if (buffer.size() > 0) {
      buffer.consume(parser.put(buffer.data(), why));
      if (why != http::error::need_more)
        co_return why;
    }
    auto space = buffer.max_size() - buffer.size();
    if (space == 0)
      co_return http::error::buffer_overflow;
    auto room = buffer.prepare(std::min(pace, space));
    why = {};
    auto n = co_await link.read(room, why);
    buffer.commit(n);
    if (n == pace)
      pace = std::min(pace * 2, max_read_bytes);
    // Only an honest end: TLS that is cut off is an error of its own.
    if (why == asio::error::eof && parser.got_some()) {
      why = {};
      parser.put_eof(why);
      co_return why;
    }
    if (why)
      co_return why;
  }
}

asio::awaitable<result<void>>
read_body(client_connection& link, reply_parser& parser,
          const client_request& request, const stream_reader& reader,
          client_response& response, std::size_t& pace) {
  auto streamed = reader.data && (!reader.head || reader.head(response));
  std::string piece(body_piece_bytes, '\0');
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    // What has come, not a full buffer: a stream's reader waits for it.
    auto why = co_await advance(link, parser, pace);
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
        co_return fail(ec::unavailable, "the reader stopped reading");
    } else {
      if (response.body.size() + bytes.size() > request.max_body_bytes)
        co_return fail(ec::exhausted, // once more would be as long
                       "the reply of " + request.service.authority()
                         + " is over " + std::to_string(request.max_body_bytes)
                         + " bytes");
      response.body += bytes;
    }
  }
  co_return result<void>{};
}

} // namespace

asio::awaitable<attempt> converse(client_connection& link,
                                  const client_request& request,
                                  const stream_reader& reader,
                                  const client_options& options) {
  link.expires_at(request.deadline);
  if (auto why = co_await send(link, request, options); why)
    co_return attempt{broken(request, "send to", why), true};
  reply_parser parser;
  auto pace = min_read_bytes;
  parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  parser.body_limit(boost::none);
  parser.skip(request.method == http::verb::head);
  // 1xx answers come before the real one; a flood of them is not waited for.
  while (!parser.is_header_done())
    if (auto why = co_await advance(link, parser, pace); why)
      co_return attempt{broken(request, "read from", why), true};
  client_response response;
  response.status = parser.get().result_int();
  response.headers = parser.get().base();
  if (response.status < 200)
    co_return attempt{
      fail(ec::unavailable,
           request.service.authority() + " sent only an interim response"),
      true};
  auto body = co_await read_body(link, parser, request, reader, response, pace);
  if (!body)
    co_return attempt{body.error(), true};
  auto reusable = parser.get().keep_alive();
  co_return attempt{std::move(response), true, reusable};
}

} // namespace troupe::net
