#include "net/http/websocket.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/json/json.hpp"

#include <openssl/sha.h>

#include <utility>

namespace troupe::net::websocket {

namespace {

constexpr std::string_view version = "13";
constexpr std::size_t key_size = 24; // 16 bytes in base64
constexpr std::size_t longest_control = 125;
constexpr std::uint8_t last_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t two_byte_size = 126;
constexpr std::uint8_t eight_byte_size = 127;
constexpr std::size_t mask_size = 4;

bool is_control(kind what) {
  return static_cast<std::uint8_t>(what) >= 0x8;
}

bool is_known(std::uint8_t code) {
  return code <= 0x2 || (code >= 0x8 && code <= 0xA);
}

std::uint8_t byte_of(const std::string& text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

/// What a server says to a key, and nothing else would.
std::string answer_to(std::string_view key) {
  const auto text = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         digest.data());
  return frame::to_base64(
    {reinterpret_cast<const char*>(digest.data()), digest.size()});
}

} // namespace

bool is_asked_for(const request& in) {
  return in.verb == method::get && !in.http10
    && has_token(in.field("upgrade"), "websocket")
    && has_token(in.field("connection"), "upgrade")
    && in.field("sec-websocket-version") == version
    && in.count("sec-websocket-key") == 1
    && in.field("sec-websocket-key").size() == key_size
    && frame::from_base64(in.field("sec-websocket-key")).has_value();
}

std::string accept(const request& in) {
  return "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
         "connection: Upgrade\r\nsec-websocket-accept: "
    + answer_to(in.field("sec-websocket-key")) + "\r\n\r\n";
}

std::string ask(std::string_view key) {
  return "connection: Upgrade\r\nupgrade: websocket\r\n"
         "sec-websocket-version: "
    + std::string{version} + "\r\nsec-websocket-key: " + std::string{key}
  + "\r\n";
}

bool is_accepted(std::string_view head, std::string_view key) {
  return head.starts_with("HTTP/1.1 101 ")
    && head.find(answer_to(key)) != head.npos;
}

std::string make_frame(kind what, std::string_view payload,
                       std::optional<mask> with) {
  const auto marked = static_cast<std::uint8_t>(with ? mask_bit : 0);
  std::string out;
  out += static_cast<char>(last_bit | static_cast<std::uint8_t>(what));
  const auto size = payload.size();
  int more = 0;
  if (size <= longest_control) {
    out += static_cast<char>(marked | size);
  } else if (size <= 0xFFFF) {
    out += static_cast<char>(marked | two_byte_size);
    more = 2;
  } else {
    out += static_cast<char>(marked | eight_byte_size);
    more = 8;
  }
  while (more-- > 0)
    out += static_cast<char>((static_cast<std::uint64_t>(size) >> (8 * more))
                             & 0xFF);
  if (!with)
    return out.append(payload);
  out.append(with->begin(), with->end());
  for (std::size_t i = 0; i < size; ++i)
    out += static_cast<char>(payload[i] ^ (*with)[i % mask_size]);
  return out;
}

std::string close_frame(status why, std::string_view text) {
  const auto code = static_cast<std::uint16_t>(why);
  std::string payload;
  payload += static_cast<char>(code >> 8);
  payload += static_cast<char>(code & 0xFF);
  payload += text.substr(0, longest_control - 2);
  return make_frame(kind::close, payload);
}

void reader::append(std::string_view bytes) {
  buffered_.erase(0, std::exchange(at_, 0));
  buffered_ += bytes;
}

reader::progress reader::fail(status why) {
  broken_ = true;
  wrong_ = why;
  return progress::broken;
}

reader::progress reader::next(message& out) {
  for (;;) {
    head h;
    const auto got = broken_ ? progress::broken : read_head(h);
    if (got != progress::whole)
      return got;
    const auto taken = take(h, out);
    if (taken != progress::partial) // of a message, of which this was a part
      return taken;
  }
}

reader::progress reader::read_head(head& to) {
  if (buffered_.size() - at_ < 2)
    return progress::partial;
  const auto first = byte_of(buffered_, at_);
  const auto second = byte_of(buffered_, at_ + 1);
  const auto code = static_cast<std::uint8_t>(first & 0xF);
  if ((first & reserved_bits) != 0 || !is_known(code)
      || ((second & mask_bit) != 0) != masked_)
    return fail(status::protocol_error);
  to.what = static_cast<kind>(code);
  to.last = (first & last_bit) != 0;
  to.size = second & 0x7F;
  if (is_control(to.what) && (!to.last || to.size > longest_control))
    return fail(status::protocol_error);
  return read_size(to);
}

/// A size that is too large is refused before anything of it has come.
reader::progress reader::read_size(head& to) {
  const auto there = buffered_.size() - at_;
  const std::size_t more = to.size == two_byte_size ? 2
    : to.size == eight_byte_size                    ? 8
                                                    : 0;
  if (there < 2 + more)
    return progress::partial;
  if (more > 0)
    to.size = 0;
  for (std::size_t i = 0; i < more; ++i)
    to.size = to.size << 8 | byte_of(buffered_, at_ + 2 + i);
  if (!is_control(to.what) && to.size > longest_ - joined_.data.size())
    return fail(status::too_large);
  to.bytes = 2 + more + (masked_ ? mask_size : 0);
  return there < to.bytes + to.size ? progress::partial : progress::whole;
}

reader::progress reader::take(const head& h, message& out) {
  const auto begin = at_ + h.bytes;
  auto data = buffered_.substr(begin, static_cast<std::size_t>(h.size));
  if (masked_)
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<char>(
        data[i] ^ buffered_[begin - mask_size + i % mask_size]);
  at_ = begin + data.size();
  if (is_control(h.what)) {
    out = {h.what, std::move(data)};
    return progress::whole;
  }
  return join(h, std::move(data), out);
}

reader::progress reader::join(const head& h, std::string data, message& out) {
  if (joining_ != (h.what == kind::continuation))
    return fail(status::protocol_error);
  if (!joining_)
    joined_ = {h.what, std::move(data)};
  else
    joined_.data += data;
  joining_ = !h.last;
  if (joining_)
    return progress::partial;
  if (joined_.what == kind::text && !json::is_utf8(joined_.data))
    return fail(status::not_text);
  out = std::exchange(joined_, {});
  return progress::whole;
}

} // namespace troupe::net::websocket
