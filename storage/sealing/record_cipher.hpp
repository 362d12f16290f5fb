#pragma once

#include "storage/sealing/aead.hpp"

#include <mutex>

namespace troupe {

/// Seals records, of which one organization may write more than one key is good
/// for: a salt is drawn, and the key that seals is derived from the given one
/// and the salt; after `records_per_salt` records the next is drawn. The text
/// reads salt, nonce, ciphertext, tag. Thread-safe.
class record_cipher {
public:
  static constexpr std::size_t salt_bytes = 16;
  /// Half of what aead would refuse.
  static constexpr std::uint64_t usual_records_per_salt = aead::max_seals / 2;

  record_cipher(key_bytes key, random_source random,
                std::uint64_t records_per_salt = usual_records_per_salt);

  result<std::string> seal(std::string_view plain, std::string_view aad) const;
  /// As aead::open.
  result<secret> open(std::string_view sealed, std::string_view aad) const;

private:
  struct salted {
    std::string salt;
    std::shared_ptr<const aead> cipher;
  };
  result<salted> next() const;
  std::shared_ptr<const aead> with(std::string_view salt) const;

  key_bytes key_;
  random_source random_;
  std::uint64_t records_per_salt_;
  mutable std::mutex mutex_;
  mutable salted now_; // guarded by mutex_, as all below
  mutable std::uint64_t sealed_ = 0;
};

} // namespace troupe
