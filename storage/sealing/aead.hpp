#pragma once

#include "storage/sealing/key_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// AES-256-GCM with one key. A fresh random nonce for every sealing; the text
/// reads nonce, ciphertext, tag. Thread-safe.
class aead {
public:
  static constexpr std::size_t nonce_bytes = 12;
  static constexpr std::size_t tag_bytes = 16;
  static constexpr std::size_t overhead = nonce_bytes + tag_bytes;
  /// Random nonces of 96 bits: beyond this many the chance of meeting one
  /// twice is no longer negligible (NIST SP 800-38D, 8.3).
  static constexpr std::uint64_t max_seals = 1ull << 32;

  aead(const key_bytes& key, random_source random);
  ~aead();
  aead(const aead&) = delete;
  aead& operator=(const aead&) = delete;

  /// `aad` is not in the text, but what was sealed opens with the same only.
  result<std::string> seal(std::string_view plain, std::string_view aad) const;
  /// `denied` unless every bit is as it was sealed; no byte comes out before
  /// the tag has been checked.
  result<secret> open(std::string_view sealed, std::string_view aad) const;

private:
  struct ciphers;
  std::unique_ptr<ciphers> ciphers_;
  random_source random_;
};

} // namespace troupe
