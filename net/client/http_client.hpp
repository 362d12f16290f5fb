#pragma once

#include "net/client/metrics.hpp"
#include "net/client/resolver.hpp"
#include "net/client/retry.hpp"
#include "net/http/url.hpp"
#include "runtime/async/cancellation.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

struct client_options {
  std::chrono::milliseconds connect_timeout{5'000}; // name, TCP and TLS
  std::chrono::milliseconds idle_timeout{55'000};   // proxies drop at 60-70 s
  std::size_t max_idle = 1'024;                     // of all hosts together
  std::size_t max_connections_per_host = 1'024;     // beyond: exhausted
  std::size_t max_header_bytes = 64u << 10;
  std::string ca_file; // "": the system's store
  /// The service's own, PEM: no other is trusted, whatever the name.
  std::string only_certificate;
  std::string certificate_file; // ours, PEM, where a service asks for one
  std::string key_file;         // PEM
  std::string user_agent = "troupe/" TROUPE_VERSION;
  resolver::names names{}; // what names lead to; empty: as the system says
  retry_policy retry;      // of what is safe to repeat
};

/// One request to one service. Header values are the caller's to mask: the
/// client never logs any.
struct client_request {
  base_url service;
  boost::beast::http::verb method = boost::beast::http::verb::get;
  std::string target = "/"; // after the service's prefix; already encoded
  boost::beast::http::fields headers;
  std::shared_ptr<const std::string> body_head; // sent before `body`; shared
  std::string body;
  /// Instead of `body`: the next piece, or nothing at the end. Sent chunked.
  std::function<std::optional<std::string>()> body_pieces;
  std::chrono::steady_clock::time_point deadline; // absolute, for all of it
  std::size_t max_body_bytes = 16u << 20;
  /// May be carried out twice. Others are repeated only when it is certain
  /// that nothing was begun.
  bool idempotent = false;
  std::optional<int> tries; // all together; none: as the client's policy
  address_rule rule;        // empty: any address
  std::shared_ptr<cancellation> abort; // may be empty
  std::string traceparent;             // W3C Trace Context; "": none
};

struct client_response {
  unsigned status = 0;
  boost::beast::http::fields headers;
  std::string body; // empty when streamed

  bool ok() const { return status >= 200 && status < 300; }
};

/// Named apart from the server's exchange: both are linked into one binary.
/// A failure and whether the service may have acted on the request.
struct client_exchange {
  result<client_response> answer;
  bool may_have_acted = false;
  int tries = 1;
};

/// What a streaming reply is read with. `head` may refuse by returning false;
/// the reply is then read into `client_response::body` like any other.
struct stream_reader {
  std::function<bool(const client_response&)> head;
  std::function<bool(std::string_view)> data; // false: enough, close
};

/// The one HTTP/1.1 client: pool per host, TLS verified against
/// the name, absolute deadlines, bounded everything, no redirects, no proxy
/// from the environment. All calls are made on the executor it was made with,
/// which must be a strand or an io_context of one thread.
class http_client {
public:
  http_client(boost::asio::any_io_executor executor, client_options options);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  boost::asio::awaitable<client_exchange> send(client_request request);
  boost::asio::awaitable<client_exchange> stream(client_request request,
                                                 stream_reader reader);

  const client_counters& counters() const;
  /// For other clients of providers, which are counted with this one.
  std::shared_ptr<client_counters> shared_counters() const;
  boost::asio::any_io_executor executor() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace troupe::net
