#include "runtime/base/digest.hpp"

#include <openssl/evp.h>

#include <memory>
#include <new>
#include <vector>

namespace troupe {

namespace {

/// The algorithm looked up and its state allocated once per thread: for a few
/// hundred bytes that costs more than the digest itself.
class hasher {
public:
  hasher()
      : sha256_{EVP_MD_fetch(nullptr, "SHA256", nullptr)}, state_{
                                                             EVP_MD_CTX_new()} {
    if (!sha256_ || !state_)
      throw std::bad_alloc{};
  }

  void begin() {
    check(EVP_DigestInit_ex(state_.get(), sha256_.get(), nullptr));
  }
  void add(std::string_view bytes) {
    check(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()));
  }
  sha256_digest end() {
    sha256_digest out;
    check(EVP_DigestFinal_ex(state_.get(), out.data(), nullptr));
    return out;
  }

private:
  struct freer {
    void operator()(EVP_MD* x) const { EVP_MD_free(x); }
    void operator()(EVP_MD_CTX* x) const { EVP_MD_CTX_free(x); }
  };
  static void check(int done) {
    if (done != 1) // out of memory: there is nothing else that it may want
      throw std::bad_alloc{};
  }

  std::unique_ptr<EVP_MD, freer> sha256_;
  std::unique_ptr<EVP_MD_CTX, freer> state_;
};

} // namespace

sha256_digest sha256(std::string_view bytes) {
  return sha256_joined({bytes});
}

sha256_digest sha256_joined(std::initializer_list<std::string_view> parts) {
  thread_local hasher of_this_thread;
  of_this_thread.begin();
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
