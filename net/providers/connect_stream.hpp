#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace troupe::net {

/// The Connect protocol's envelopes with the JSON codec, as E2B's envd speaks
/// it: one byte of flags, four of length (big endian), the payload.

/// The body of a streaming request: one envelope.
std::string connect_envelope(std::string_view json);

/// Reads a reply as it comes in. Each payload goes to `message`; the closing
/// envelope ends it, well or with the error it carries.
class connect_reader {
public:
  using message_sink = std::function<result<void>(std::string_view json)>;

  explicit connect_reader(message_sink message,
                          std::size_t max_message_bytes = 4u << 20);

  result<void> feed(std::string_view bytes);
  /// To be asked at the end of the body: without a closing envelope the
  /// stream was cut off.
  result<void> finish() const;
  bool closed() const { return closed_; }

private:
  result<void> take(std::uint8_t flags, std::string_view payload);

  message_sink message_;
  std::size_t limit_;
  std::string buffer_;
  bool closed_ = false;
};

/// `{"code":"not_found","message":"..."}` as one of our errors.
error connect_error(std::string_view json);

} // namespace troupe::net
