#include "runtime/digest.hpp"

#include <openssl/sha.h>

#include <vector>

namespace troupe {

sha256_digest sha256(std::string_view bytes) {
  sha256_digest out;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         out.data());
  return out;
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (auto b : bytes) {
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

std::string decimal(const sha256_digest& digest) {
  // Schoolbook: limbs of nine decimal digits, lowest first.
  constexpr std::uint64_t base = 1'000'000'000;
  std::vector<std::uint32_t> limbs{0};
  for (auto byte : digest) {
    std::uint64_t carry = byte;
    for (auto& limb : limbs) {
      carry += std::uint64_t{limb} * 256;
      limb = static_cast<std::uint32_t>(carry % base);
      carry /= base;
    }
    if (carry != 0)
      limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  auto out = std::to_string(limbs.back());
  for (auto i = limbs.rbegin() + 1; i != limbs.rend(); ++i) {
    auto part = std::to_string(*i);
    out.append(9 - part.size(), '0');
    out += part;
  }
  return out;
}

} // namespace troupe
