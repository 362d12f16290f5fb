#include "storage/sealing/aead.hpp"

#include "storage/sealing/cryptopp_bytes.hpp"

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>

#include <array>
#include <mutex>

namespace troupe {

namespace {

CryptoPP::byte* out(std::string& s, std::size_t at = 0) {
  return reinterpret_cast<CryptoPP::byte*>(s.data() + at);
}

error refused() {
  return {ec::denied,
          "a sealed value cannot be decrypted: it was changed, moved, or "
          "sealed with another key",
          {},
          {}};
}

} // namespace

// Setting up a key costs more than sealing a short text, so the ciphers are
// kept; they hold state, hence the locks.
struct aead::ciphers {
  std::mutex sealing;
  CryptoPP::GCM<CryptoPP::AES>::Encryption seal;
  std::array<std::uint8_t, nonce_bytes> last_nonce{};
  std::uint64_t seals = 0;

  std::mutex opening;
  CryptoPP::GCM<CryptoPP::AES>::Decryption open;
};

aead::aead(const key_bytes& key, random_source random)
    : ciphers_{std::make_unique<ciphers>()}, random_{std::move(random)} {
  // Both want some nonce along with the key; every use brings its own.
  const std::array<CryptoPP::byte, nonce_bytes> none{};
  ciphers_->seal.SetKeyWithIV(key.data(), key_bytes::size, none.data(),
                              none.size());
  ciphers_->open.SetKeyWithIV(key.data(), key_bytes::size, none.data(),
                              none.size());
}

aead::~aead() = default;

result<std::string> aead::seal(std::string_view plain,
                               std::string_view aad) const {
  std::array<std::uint8_t, nonce_bytes> nonce{};
  if (auto filled = random_(nonce); !filled)
    return filled.error().within("seal a value");
  std::string sealed(overhead + plain.size(), '\0');
  std::copy(nonce.begin(), nonce.end(), sealed.begin());
  std::lock_guard guard{ciphers_->sealing};
  // Two equal ones in a row: the source is stuck, and a nonce used twice gives
  // the key's authentication away.
  if (nonce == ciphers_->last_nonce)
    return error{
      ec::internal, "the source of randomness repeats itself", {}, {}};
  if (++ciphers_->seals > max_seals)
    return error{
      ec::exhausted,
      "a data key has sealed 2^32 values, the most that is safe: nothing more "
      "can be sealed for this organization",
      {},
      {}};
  ciphers_->last_nonce = nonce;
  try {
    ciphers_->seal.EncryptAndAuthenticate(
      out(sealed, nonce_bytes), out(sealed, nonce_bytes + plain.size()),
      tag_bytes, nonce.data(), nonce_bytes, as_bytes(aad), aad.size(),
      as_bytes(plain), plain.size());
  } catch (const CryptoPP::Exception& e) {
    return error{
      ec::internal, std::string{"seal a value: "} + e.what(), {}, {}};
  }
  return sealed;
}

result<secret> aead::open(std::string_view sealed, std::string_view aad) const {
  if (sealed.size() < overhead)
    return refused();
  auto size = sealed.size() - overhead;
  std::string plain(size, '\0');
  bool authentic = false;
  try {
    std::lock_guard guard{ciphers_->opening};
    authentic = ciphers_->open.DecryptAndVerify(
      out(plain), as_bytes(sealed.substr(nonce_bytes + size)), tag_bytes,
      as_bytes(sealed), nonce_bytes, as_bytes(aad), aad.size(),
      as_bytes(sealed.substr(nonce_bytes)), size);
  } catch (const CryptoPP::Exception&) {
    authentic = false;
  }
  secret value{std::move(plain)}; // wipes it if it must not be seen
  if (!authentic)
    return refused();
  return value;
}

} // namespace troupe
