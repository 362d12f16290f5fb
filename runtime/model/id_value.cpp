#include "runtime/model/id_value.hpp"

#include "runtime/base/random.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <functional>

namespace troupe {

namespace {

constexpr std::string_view hex = "0123456789abcdef";

bool is_uuid4(std::string_view s) {
  if (s.size() != 36)
    return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (s[i] != '-')
        return false;
    } else if (!((s[i] >= '0' && s[i] <= '9')
                 || (s[i] >= 'a' && s[i] <= 'f'))) {
      return false;
    }
  }
  return s[14] == '4'
    && (s[19] == '8' || s[19] == '9' || s[19] == 'a' || s[19] == 'b');
}

/// Writes the 36 characters of a UUID.
void spell(std::uint64_t high, std::uint64_t low, char* to) {
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *to++ = '-';
    const auto byte
      = static_cast<std::uint8_t>((i < 8 ? high : low) >> (56 - 8 * (i % 8)));
    *to++ = hex[byte >> 4];
    *to++ = hex[byte & 15];
  }
}

std::uint64_t digit(char c) {
  return static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

/// Eight bytes of a checked UUID, from its character `at`.
std::uint64_t read_half(std::string_view uuid, std::size_t at) {
  std::uint64_t half = 0;
  for (int digits = 0; digits < 16; ++at)
    if (uuid[at] != '-') {
      half = half << 4 | digit(uuid[at]);
      ++digits;
    }
  return half;
}

} // namespace

id_value::id_value(std::string_view prefix, std::string text) {
  if (is_id(prefix, text)) {
    const auto uuid = std::string_view{text}.substr(prefix.size() + 1);
    high_ = read_half(uuid, 0);
    low_ = read_half(uuid, 19);
  } else if (!text.empty()) {
    odd_ = std::make_unique<const std::string>(std::move(text));
  }
}

id_value id_value::make() {
  std::array<std::uint8_t, 16> bytes;
  random_bytes(bytes);
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
  id_value made;
  made.high_ = (halves[0] & ~0xf000ull) | 0x4000ull;
  made.low_ = (halves[1] & ~(3ull << 62)) | (2ull << 62);
  return made;
}

std::string id_value::text(std::string_view prefix) const {
  if (!is_uuid())
    return odd_ ? *odd_ : std::string{};
  std::string all;
  all.resize(prefix.size() + 37);
  prefix.copy(all.data(), prefix.size());
  all[prefix.size()] = '-';
  spell(high_, low_, all.data() + prefix.size() + 1);
  return all;
}

std::size_t id_value::hash() const noexcept {
  if (odd_)
    return std::hash<std::string>{}(*odd_);
  // Most are random, but some are chosen by others.
  constexpr std::uint64_t odd_factor = 0x9e37'79b9'7f4a'7c15;
  const auto mixed = (high_ ^ (low_ >> 29 | low_ << 35)) * odd_factor;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

std::string make_uuid() {
  return id_value::make().text({}).substr(1);
}

bool is_id(std::string_view prefix, std::string_view text) {
  return text.size() == prefix.size() + 37 && text.starts_with(prefix)
    && text[prefix.size()] == '-' && is_uuid4(text.substr(prefix.size() + 1));
}

} // namespace troupe
