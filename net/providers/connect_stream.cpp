#include "net/providers/connect_stream.hpp"

#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t head_bytes = 5;
constexpr std::uint8_t compressed = 1;
constexpr std::uint8_t end_of_stream = 2;

ec code_of(std::string_view name) {
  if (name == "invalid_argument" || name == "out_of_range"
      || name == "failed_precondition")
    return ec::invalid_request;
  if (name == "not_found")
    return ec::not_found;
  if (name == "already_exists" || name == "aborted")
    return ec::conflict;
  if (name == "permission_denied" || name == "unauthenticated")
    return ec::denied;
  if (name == "resource_exhausted")
    return ec::exhausted;
  if (name == "deadline_exceeded" || name == "canceled")
    return ec::timeout;
  return ec::unavailable;
}

std::uint32_t big_endian(std::string_view b) {
  auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(b[i])};
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

} // namespace

std::string connect_envelope(std::string_view json) {
  std::string out(head_bytes, '\0');
  auto size = static_cast<std::uint32_t>(json.size());
  for (int i = 0; i < 4; ++i)
    out[static_cast<std::size_t>(i) + 1]
      = static_cast<char>(size >> (24 - 8 * i));
  out += json;
  return out;
}

connect_reader::connect_reader(message_sink message,
                               std::size_t max_message_bytes)
    : message_{std::move(message)}, limit_{max_message_bytes} {}

result<void> connect_reader::feed(std::string_view bytes) {
  if (closed_)
    return fail(ec::unavailable, "bytes after the end of the stream");
  buffer_ += bytes;
  std::string_view rest = buffer_;
  while (rest.size() >= head_bytes && !closed_) {
    auto size = big_endian(rest.substr(1));
    if (size > limit_)
      return fail(ec::unavailable,
                  "a message of " + std::to_string(size) + " bytes");
    if (rest.size() < head_bytes + size)
      break;
    auto flags = static_cast<std::uint8_t>(rest[0]);
    auto taken = take(flags, rest.substr(head_bytes, size));
    if (!taken)
      return taken;
    rest.remove_prefix(head_bytes + size);
  }
  if (closed_ && !rest.empty())
    return fail(ec::unavailable, "bytes after the end of the stream");
  buffer_.erase(0, buffer_.size() - rest.size());
  return {};
}

result<void> connect_reader::take(std::uint8_t flags,
                                  std::string_view payload) {
  if (flags & compressed)
    return fail(ec::unavailable, "an unexpected compressed message");
  if (!(flags & end_of_stream))
    return message_(payload);
  closed_ = true;
  auto end = json::parse_object(payload.empty() ? "{}" : payload);
  if (!end)
    return fail(ec::unavailable, "a broken end of the stream");
  if (auto* why = end->if_contains("error"); why && !why->is_null())
    return connect_error(json::to_text(*why));
  return {};
}

result<void> connect_reader::finish() const {
  if (!closed_)
    return fail(ec::unavailable, "the stream was cut off");
  return {};
}

error connect_error(std::string_view text) {
  std::string name;
  if (auto body = json::parse_object(text))
    if (auto* code = body->if_contains("code"); code && code->is_string())
      name = std::string{code->as_string()}.substr(0, 64);
  auto message = reply_message(text);
  return fail(code_of(name), message.empty() ? name : name + ": " + message);
}

} // namespace troupe::net
