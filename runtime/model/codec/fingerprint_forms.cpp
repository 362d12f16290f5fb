#include "runtime/model/codec/fingerprint_forms.hpp"

#include "runtime/base/digest.hpp"

#include <charconv>

namespace troupe {

namespace {

constexpr std::size_t shown_digits = 12;

/// The number times ten and one more digit: decimal as it is read.
void append_decimal(sha256_digest& number, unsigned digit) {
  unsigned carry = digit;
  for (auto byte = number.rbegin(); byte != number.rend(); ++byte) {
    carry += *byte * 10u;
    *byte = static_cast<std::uint8_t>(carry & 0xff);
    carry >>= 8;
  }
}

} // namespace

std::string hex_fingerprint(const sandbox_config& config) {
  sha256_digest number{};
  for (const char digit : fingerprint(config))
    append_decimal(number, static_cast<unsigned>(digit - '0'));
  return hex(number);
}

std::string_view short_fingerprint(std::string_view hex) {
  return hex.substr(0, shown_digits);
}

std::string decimal_fingerprint(std::string_view hex) {
  sha256_digest number{};
  if (hex.size() != 2 * number.size())
    return std::string{hex};
  for (std::size_t i = 0; i < number.size(); ++i) {
    const auto* from = hex.data() + 2 * i;
    const auto [end, bad] = std::from_chars(from, from + 2, number[i], 16);
    if (bad != std::errc{} || end != from + 2)
      return std::string{hex};
  }
  return decimal(number);
}

} // namespace troupe
