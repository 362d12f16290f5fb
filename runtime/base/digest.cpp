#include "runtime/base/digest.hpp"

#include <openssl/evp.h>

#include <new>
#include <vector>

namespace troupe {

namespace {

void check(int done) {
  if (done != 1) // out of memory: there is nothing else that it may want
    throw std::bad_alloc{};
}

} // namespace

sha256_hasher::sha256_hasher()
    : sha256_{EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_free},
      state_{EVP_MD_CTX_new(), EVP_MD_CTX_free} {
  if (!sha256_ || !state_)
    throw std::bad_alloc{};
  check(EVP_DigestInit_ex(state_.get(), sha256_.get(), nullptr));
}

void sha256_hasher::add(std::string_view bytes) {
  check(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()));
}

sha256_digest sha256_hasher::end() {
  sha256_digest out;
  check(EVP_DigestFinal_ex(state_.get(), out.data(), nullptr));
  check(EVP_DigestInit_ex(state_.get(), nullptr, nullptr));
  return out;
}

sha256_digest sha256(std::string_view bytes) {
  return sha256_joined({bytes});
}

sha256_digest sha256_joined(std::initializer_list<std::string_view> parts) {
  thread_local sha256_hasher of_this_thread;
  for (auto part : parts)
    of_this_thread.add(part);
  return of_this_thread.end();
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out(bytes.size() * 2, '0');
  auto* to = out.data();
  for (auto b : bytes) {
    *to++ = digits[b >> 4];
    *to++ = digits[b & 15];
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
