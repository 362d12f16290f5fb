#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_session;

namespace troupe::net {

using header_list = std::vector<std::pair<std::string, std::string>>;

/// One request and its reply on an HTTP/2 connection.
struct http2_stream {
  header_list request;
  std::string body; // sent whole, then the stream is closed on our side

  // What comes back:
  std::function<void(std::string_view)> data;
  /// Once. `reset` is the HTTP/2 error code when the stream was broken off.
  std::function<void(const http2_stream&)> closed;
  std::map<std::string, std::string> head; // headers, then trailers too
  std::uint32_t reset = 0;
  bool refused = false; // for certain not acted on

  std::size_t sent = 0; // of body
};

/// The framing of HTTP/2's client side by nghttp2, without any I/O: received
/// bytes go in, bytes to send come out.
class http2_session {
public:
  http2_session();
  ~http2_session();
  http2_session(const http2_session&) = delete;
  http2_session& operator=(const http2_session&) = delete;

  /// Its number, or an error when no more streams may be opened.
  result<std::int32_t> open(std::shared_ptr<http2_stream> stream);
  /// Breaks a stream off (RST_STREAM CANCEL); `closed` follows.
  void cancel(std::int32_t id);
  void ping();

  /// An error means that the connection is beyond repair.
  result<void> receive(std::string_view bytes);
  /// What is to be sent now; "" when nothing is.
  std::string pending();

  std::size_t streams() const { return streams_.size(); }
  /// No new streams: the other side is going, or the numbers ran out.
  bool draining() const;
  /// The connection broke: ends every stream.
  void fail_all();

private:
  struct callbacks;
  friend struct callbacks;

  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, std::shared_ptr<http2_stream>> streams_;
  bool goaway_ = false;
  std::int32_t last_stream_ = 0x7fffffff;
};

} // namespace troupe::net
