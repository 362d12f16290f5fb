#include "storage/sealing/key_bytes.hpp"

#include "storage/database/key_codec.hpp"

#include <cryptopp/hmac.h>
#include <cryptopp/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

namespace troupe {

random_source system_random() {
  return [](std::span<std::uint8_t> out) -> result<void> {
    while (!out.empty()) {
      auto n = ::getrandom(out.data(), out.size(), 0);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return error{
          ec::internal, "the kernel provides no random numbers", {}, {}};
      out = out.subspan(static_cast<std::size_t>(n));
    }
    return {};
  };
}

result<key_bytes> key_bytes::random(const random_source& source) {
  key_bytes key;
  if (auto filled = source(key.bytes_); !filled)
    return filled.error().within("make a key");
  return key;
}

result<key_bytes> key_bytes::from(std::string_view bytes) {
  if (bytes.size() != size)
    return error{ec::internal,
                 "a key has 32 bytes, this one " + std::to_string(bytes.size()),
                 {},
                 {}};
  key_bytes key;
  std::copy(bytes.begin(), bytes.end(), key.bytes_.begin());
  return key;
}

key_bytes::key_bytes(key_bytes&& other) noexcept : bytes_{other.bytes_} {
  wipe(other.bytes_.data(), other.bytes_.size());
}

key_bytes& key_bytes::operator=(key_bytes&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    wipe(other.bytes_.data(), other.bytes_.size());
  }
  return *this;
}

std::string_view key_bytes::view() const noexcept {
  return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
}

key_bytes key_bytes::clone() const {
  key_bytes copy;
  copy.bytes_ = bytes_;
  return copy;
}

std::string hmac(const key_bytes& key, std::string_view text) {
  CryptoPP::HMAC<CryptoPP::SHA256> mac{key.data(), key_bytes::size};
  mac.Update(reinterpret_cast<const CryptoPP::byte*>(text.data()), text.size());
  std::string out(CryptoPP::HMAC<CryptoPP::SHA256>::DIGESTSIZE, '\0');
  mac.Final(reinterpret_cast<CryptoPP::byte*>(out.data()));
  return out;
}

std::string length_prefixed(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (auto part : parts)
    size += sizeof(std::uint64_t) + part.size();
  std::string out;
  out.reserve(size);
  for (auto part : parts) {
    out += key_codec::number(part.size());
    out += part;
  }
  return out;
}

} // namespace troupe
