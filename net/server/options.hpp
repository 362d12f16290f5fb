#pragma once

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {
class watchdog;
} // namespace troupe

namespace troupe::net {

/// Whether requests without an API key are accepted.
enum class auth_mode : std::uint8_t {
  loopback_open, // over a loopback listener: yes, as the default organization
  required,      // never
};

/// One finished request, for the access log. The texts live for the call.
struct access_entry {
  std::string_view peer;
  std::string_view method;
  std::string_view route; // the template: "/v1/runs/{id}", "" for none
  int status = 0;
  std::size_t bytes_out = 0;
  std::chrono::microseconds took{0};
  std::string_view request_id;
  std::string_view trace_id; // of the caller's traceparent, "" for none
  std::string_view organization;
  std::string_view key_id; // "" for loopback without a key
};

/// Everything that may be said about the listener. Sizes are bytes.
struct server_options {
  /// `address:port` or `[address]:port`; port 0 takes any free one.
  std::vector<std::string> listen{"127.0.0.1:8283"};
  /// A Unix socket on which root and our own user are the operator, without a
  /// key; "": none. Where it cannot be made a warning says so, unless it is
  /// all there is to listen on.
  std::filesystem::path operator_socket;
  unsigned threads = 0; // 0: one per core, at most 8; with `host`, see there
  /// Whose thread serves the sockets, too, if one is enough: on two cores a
  /// thread more costs each run two switches and warms no cache. It must
  /// outlive the server's `stop`.
  boost::asio::io_context* host = nullptr;
  watchdog* watch = nullptr; // of our own threads; outlives the server's `stop`

  // -- access ----------------------------------------------------------------
  auth_mode auth = auth_mode::loopback_open;
  /// Names that `Host` may carry beside the loopback ones. Empty on a
  /// listener that is not loopback: any well-formed name.
  std::vector<std::string> allowed_hosts;
  /// What is served here are pages of tenants: every path leads to the route
  /// "/", none is ours, and the handler looks at Host, pages and keys itself.
  bool pages_of_tenants = false;

  // -- TLS: both files, or neither -------------------------------------------
  std::string tls_certificate_file; // PEM, the chain
  std::string tls_key_file;         // PEM
  std::string tls_client_ca_file;   // "": clients need no certificate

  // -- how much --------------------------------------------------------------
  std::size_t head_limit = 16u << 10;    // request line and fields
  std::size_t target_limit = 8u << 10;   // of these, the target
  std::size_t field_count_limit = 100;   // fields per request
  std::size_t body_limit = 1u << 20;     // where a route says nothing else
  std::size_t bodies_limit = 256u << 20; // of all requests together
  std::size_t in_flight_limit = 4'096;   // requests waiting for an answer
  std::size_t connection_limit = 10'000; // all addresses together
  std::size_t connections_per_address = 2'000; // 0: no bound
  std::size_t stream_buffer = 1u << 20;        // unsent bytes of one stream
  std::size_t streams_limit = 128u << 20;      // of all streams together
  std::size_t large_body = 256u << 10; // from here on read beside the io thread
  std::size_t large_bodies = 256;      // that wait for it; a thread takes one
  std::size_t gzip_from = 4u << 10;    // smaller answers are not worth it
  std::size_t gzip_up_to = 8u << 20;   // larger ones would hold a thread

  // -- how long --------------------------------------------------------------
  std::chrono::milliseconds head_timeout{10'000};
  std::chrono::milliseconds body_timeout{10'000}; // plus the size at this rate:
  std::size_t body_rate = 16u << 10;              // bytes per second
  std::chrono::milliseconds write_timeout{30'000}; // without any progress
  std::chrono::milliseconds idle_timeout{60'000};  // between two requests
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds linger_timeout{2'000}; // after a refusal
  std::chrono::milliseconds heartbeat{15'000};     // of a silent SSE stream

  // -- what operators see ----------------------------------------------------
  bool metrics = true;       // serve /metrics
  bool open_details = false; // /metrics without a key beyond loopback, too
  std::function<std::string()> more_metrics; // of others, in the same format

  /// Told about each finished request, on the io threads: must not block.
  std::function<void(const access_entry&)> access_log;
};

} // namespace troupe::net
