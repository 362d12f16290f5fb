#include "net/grpc/grpc_message.hpp"

#include "net/grpc/protobuf.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/json.hpp"
#include "runtime/json/printable.hpp"

#include <charconv>

namespace troupe::net {

namespace {

constexpr std::size_t head_bytes = 5;
constexpr std::size_t max_message_text = 300;
constexpr float max_retry_seconds = 86'400;
constexpr std::string_view retry_type = "/modal.client.RPCRetryPolicy";

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    auto* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size()
        && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return json::repair_utf8(out.substr(0, max_message_text));
}

grpc_code from_http(std::string_view status) {
  if (status == "400")
    return grpc_code::internal;
  if (status == "401")
    return grpc_code::unauthenticated;
  if (status == "403")
    return grpc_code::permission_denied;
  if (status == "404")
    return grpc_code::unimplemented;
  if (status == "429" || status == "502" || status == "503" || status == "504")
    return grpc_code::unavailable;
  return grpc_code::unknown;
}

grpc_code from_reset(std::uint32_t code) {
  switch (code) {
  case 7: // REFUSED_STREAM
    return grpc_code::unavailable;
  case 8: // CANCEL
    return grpc_code::cancelled;
  case 11: // ENHANCE_YOUR_CALM
    return grpc_code::resource_exhausted;
  default:
    return grpc_code::internal;
  }
}

/// {3: repeated Any{1: type_url, 2: {1: float seconds}}}
std::optional<float> retry_policy_of(std::string_view base64) {
  std::string text{base64};
  while (text.size() % 4 != 0)
    text += '='; // senders leave the padding out
  auto bytes = frame::from_base64(text);
  if (!bytes)
    return {};
  protobuf::field f;
  for (protobuf::reader status{*bytes}; status.next(f);) {
    if (f.number != 3)
      continue;
    std::string_view type, value;
    protobuf::field part;
    for (protobuf::reader any{f.bytes}; any.next(part);)
      (part.number == 1 ? type : value) = part.bytes;
    if (!type.ends_with(retry_type))
      continue;
    for (protobuf::reader policy{value}; policy.next(part);)
      if (part.number == 1 && part.as_float() >= 0
          && part.as_float() <= max_retry_seconds) // false for NaN
        return part.as_float();
  }
  return {};
}

ec code_of(grpc_code code) {
  switch (code) {
  case grpc_code::not_found:
    return ec::not_found;
  case grpc_code::already_exists:
    return ec::conflict;
  case grpc_code::permission_denied:
  case grpc_code::unauthenticated:
    return ec::denied;
  case grpc_code::resource_exhausted:
    return ec::exhausted;
  case grpc_code::deadline_exceeded:
    return ec::timeout;
  default: // what was wrong with a request of ours is not its caller's fault
    return ec::unavailable;
  }
}

} // namespace

bool is_refusal(grpc_code code) {
  switch (code) {
  case grpc_code::invalid_argument:
  case grpc_code::not_found:
  case grpc_code::permission_denied:
  case grpc_code::resource_exhausted:
  case grpc_code::failed_precondition:
  case grpc_code::out_of_range:
  case grpc_code::unimplemented:
  case grpc_code::unauthenticated:
    return true;
  default:
    return false;
  }
}

error grpc_status::as_error(std::string_view doing) const {
  error e;
  e.code = code_of(code);
  e.text = std::string{doing} + ": gRPC status "
    + std::to_string(static_cast<int>(code))
    + (message.empty() ? "" : ": " + printable(message));
  if (retry_after)
    e.retry_after = std::chrono::milliseconds{
      static_cast<std::int64_t>(*retry_after * 1000)};
  return e;
}

grpc_status read_grpc_status(const std::map<std::string, std::string>& head,
                             std::uint32_t reset_code) {
  grpc_status out;
  auto text = [&](const char* name) -> std::string_view {
    auto i = head.find(name);
    return i == head.end() ? std::string_view{} : i->second;
  };
  auto said = text("grpc-status");
  if (said.empty()) {
    out.code
      = reset_code != 0 ? from_reset(reset_code) : from_http(text(":status"));
    out.message = "the reply has no grpc-status";
    return out;
  }
  unsigned number = 2;
  auto read = std::from_chars(said.data(), said.data() + said.size(), number);
  if (read.ec != std::errc{} || number > 16)
    number = 2;
  out.code = static_cast<grpc_code>(number);
  out.message = percent_decoded(text("grpc-message"));
  if (auto details = text("grpc-status-details-bin"); !details.empty())
    out.retry_after = retry_policy_of(details);
  return out;
}

std::string grpc_frame(std::string_view message) {
  std::string out(head_bytes, '\0');
  auto size = static_cast<std::uint32_t>(message.size());
  for (std::size_t i = 0; i < 4; ++i)
    out[i + 1] = static_cast<char>(size >> (24 - 8 * i));
  out += message;
  return out;
}

result<void>
grpc_reader::feed(std::string_view bytes,
                  const std::function<void(std::string_view)>& message) {
  buffer_ += bytes;
  std::string_view rest = buffer_;
  while (rest.size() >= head_bytes) {
    if (rest[0] != 0)
      return error{
        ec::unavailable, "gRPC: an unexpected compressed message", {}, {}};
    std::size_t size = 0;
    for (std::size_t i = 1; i < head_bytes; ++i)
      size = size << 8 | static_cast<unsigned char>(rest[i]);
    if (size > limit_)
      return error{ec::unavailable,
                   "gRPC: a message of " + std::to_string(size) + " bytes",
                   {},
                   {}};
    if (rest.size() < head_bytes + size)
      break;
    message(rest.substr(head_bytes, size));
    rest.remove_prefix(head_bytes + size);
  }
  buffer_.erase(0, buffer_.size() - rest.size());
  return {};
}

std::string grpc_timeout(std::uint64_t milliseconds) {
  constexpr std::uint64_t max_digits = 99'999'999;
  if (milliseconds <= max_digits)
    return std::to_string(milliseconds) + "m";
  auto seconds = milliseconds / 1000;
  if (seconds <= max_digits)
    return std::to_string(seconds) + "S";
  return std::to_string(max_digits) + "S";
}

} // namespace troupe::net
