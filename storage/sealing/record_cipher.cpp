#include "storage/sealing/record_cipher.hpp"

#include <span>

namespace troupe {

record_cipher::record_cipher(key_bytes key, random_source random,
                             std::uint64_t records_per_salt)
    : key_{std::move(key)}, random_{std::move(random)}, records_per_salt_{
                                                          records_per_salt} {}

std::shared_ptr<const aead> record_cipher::with(std::string_view salt) const {
  auto bytes = hmac(key_, length_prefixed({"troupe record key", salt}));
  auto key = key_bytes::from(bytes); // a digest has as many bytes as a key
  wipe(bytes.data(), bytes.size());
  return std::make_shared<const aead>(*key, random_);
}

auto record_cipher::next() const -> result<salted> {
  std::lock_guard guard{mutex_};
  if (!now_.cipher || sealed_ >= records_per_salt_) {
    std::string salt(salt_bytes, '\0');
    if (auto filled
        = random_({reinterpret_cast<std::uint8_t*>(salt.data()), salt.size()});
        !filled)
      return filled.error().within("seal a record");
    auto cipher = with(salt);
    now_ = {std::move(salt), std::move(cipher)};
    sealed_ = 0;
  }
  ++sealed_;
  return now_;
}

result<std::string> record_cipher::seal(std::string_view plain,
                                        std::string_view aad) const {
  auto use = next();
  if (!use)
    return use.error();
  auto text = use->cipher->seal(plain, aad);
  if (!text)
    return text.error();
  return std::move(use->salt) + *text;
}

result<secret> record_cipher::open(std::string_view sealed,
                                   std::string_view aad) const {
  const auto salt = sealed.substr(0, salt_bytes);
  std::shared_ptr<const aead> cipher;
  {
    std::lock_guard guard{mutex_};
    if (salt == now_.salt)
      cipher = now_.cipher;
  }
  if (!cipher)
    cipher = with(salt);
  return cipher->open(sealed.substr(salt.size()), aad);
}

} // namespace troupe
