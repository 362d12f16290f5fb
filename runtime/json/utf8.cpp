#include "runtime/json/utf8.hpp"

#include "runtime/json/json.hpp"

#include <cstring>

namespace troupe::json {

namespace {

constexpr std::uint64_t every_byte(std::uint8_t b) {
  return 0x0101010101010101ull * b;
}
constexpr std::uint64_t high_bits = every_byte(0x80);

/// A high bit wherever a byte of `x`, all below 0x80, is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t x) {
  return (x - every_byte(1)) & ~x & high_bits;
}

bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/// What may follow a lead byte: Unicode 15, table 3-7.
struct sequence {
  std::size_t size = 0; // 0: no lead byte
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xbf;
  std::uint32_t lead_bits = 0;
};

sequence sequence_of(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf)
    return {2, 0x80, 0xbf, lead & 0x1fu};
  if (lead >= 0xe0 && lead <= 0xef)
    return {3, static_cast<unsigned char>(lead == 0xe0 ? 0xa0 : 0x80),
            static_cast<unsigned char>(lead == 0xed ? 0x9f : 0xbf),
            lead & 0x0fu};
  if (lead >= 0xf0 && lead <= 0xf4)
    return {4, static_cast<unsigned char>(lead == 0xf0 ? 0x90 : 0x80),
            static_cast<unsigned char>(lead == 0xf4 ? 0x8f : 0xbf),
            lead & 0x07u};
  return {};
}

} // namespace

utf8_step next_code_point(std::string_view rest) noexcept {
  auto byte
    = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (byte(0) < 0x80)
    return {byte(0), 1, true};
  auto want = sequence_of(byte(0));
  if (want.size == 0)
    return {0, 1, false};
  std::uint32_t code = want.lead_bits;
  for (std::size_t i = 1; i < want.size; ++i) {
    auto low = i == 1 ? want.second_min : 0x80;
    auto high = i == 1 ? want.second_max : 0xbf;
    if (i >= rest.size() || byte(i) < low || byte(i) > high)
      return {0, i, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return {code, want.size, true};
}

void append_code_point(std::string& out, std::uint32_t code) {
  auto tail = [&](int shift) {
    out += static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t plain_prefix(std::string_view text) noexcept {
  std::size_t i = 0;
  // Eight bytes at a time: results of tools are megabytes of plain text.
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t w;
    std::memcpy(&w, text.data() + i, 8);
    auto low = w & ~high_bits;
    auto odd = (w & high_bits) | zero_bytes(low ^ every_byte('"'))
      | zero_bytes(low ^ every_byte('\\'))
      | (~((low | high_bits) - every_byte(0x20)) & high_bits);
    if (odd != 0)
      break;
  }
  while (i < text.size() && is_plain(static_cast<unsigned char>(text[i])))
    ++i;
  return i;
}

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    bytes.remove_prefix(plain_prefix(bytes));
    if (bytes.empty())
      break;
    auto step = next_code_point(bytes);
    if (!step.valid)
      return false;
    bytes.remove_prefix(step.size);
  }
  return true;
}

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    auto plain = plain_prefix(bytes);
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty())
      break;
    auto step = next_code_point(bytes);
    out += step.valid ? bytes.substr(0, step.size) : replacement_character;
    bytes.remove_prefix(step.size);
  }
  return out;
}

} // namespace troupe::json
