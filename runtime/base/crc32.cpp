#include "runtime/base/crc32.hpp"

#include <array>
#include <cstddef>

namespace troupe::frame {

namespace {

// Eight tables: eight bytes per step instead of one.
using tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr tables make_tables() {
  tables t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit)
      c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    t[0][i] = c;
  }
  for (std::uint32_t i = 0; i < 256; ++i)
    for (std::size_t k = 1; k < 8; ++k)
      t[k][i] = t[0][t[k - 1][i] & 0xFF] ^ (t[k - 1][i] >> 8);
  return t;
}

constexpr tables table = make_tables();

std::uint32_t load(const char* p) noexcept {
  auto byte = [p](int i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(p[i]));
  };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

} // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t c = ~before;
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint32_t low = c ^ load(p);
    std::uint32_t high = load(p + 4);
    c = table[7][low & 0xFF] ^ table[6][(low >> 8) & 0xFF]
      ^ table[5][(low >> 16) & 0xFF] ^ table[4][low >> 24]
      ^ table[3][high & 0xFF] ^ table[2][(high >> 8) & 0xFF]
      ^ table[1][(high >> 16) & 0xFF] ^ table[0][high >> 24];
  }
  for (; left > 0; --left, ++p)
    c = table[0][(c ^ static_cast<unsigned char>(*p)) & 0xFF] ^ (c >> 8);
  return ~c;
}

} // namespace troupe::frame
