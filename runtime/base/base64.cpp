#include "runtime/base/base64.hpp"

#include <array>
#include <cstdint>

namespace troupe::frame {

namespace {

constexpr std::string_view alphabet
  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t none = 0xFF;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> t{};
  t.fill(none);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    t[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return t;
}

constexpr auto values = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
}

error bad_base64() {
  error e;
  e.code = ec::invalid_request;
  e.text = "read base64: not the standard alphabet with padding";
  return e;
}

} // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto group = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8
      | byte_at(bytes, i + 2);
    out += alphabet[group >> 18];
    out += alphabet[group >> 12 & 63];
    out += i + 1 < bytes.size() ? alphabet[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? alphabet[group & 63] : '=';
  }
  return out;
}

result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return bad_base64();
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool pad = i >= text.size() - padding;
    auto digit
      = pad ? std::uint8_t{0} : values[static_cast<unsigned char>(text[i])];
    if (digit == none)
      return bad_base64();
    group = group << 6 | digit;
    if (i % 4 != 3)
      continue;
    for (int shift = 16; shift >= 0; shift -= 8)
      out += static_cast<char>(group >> shift & 0xFF);
    group = 0;
  }
  for (; padding > 0; --padding) {
    if (out.back() != '\0') // bits that no encoder sets
      return bad_base64();
    out.pop_back();
  }
  return out;
}

} // namespace troupe::frame
