#include "storage/sealing/letta_value.hpp"

#include "storage/sealing/cryptopp_bytes.hpp"

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cryptopp/pwdbased.h>
#include <cryptopp/secblock.h>
#include <cryptopp/sha.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace troupe {

namespace {

constexpr unsigned iterations = 100'000;
constexpr std::size_t salt_bytes = 16;
constexpr std::size_t iv_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t key_size = 32;
// Salt, IV, tag and one byte of text.
constexpr std::size_t min_sealed_bytes = salt_bytes + iv_bytes + tag_bytes + 1;

// Well-known beginnings of API keys: such a text was never sealed.
constexpr std::array<std::string_view, 17> plain_prefixes{
  "sk-",  "pk-",  "api-", "key-", "token-", "Bearer ", "xoxb-", "xoxp-", "ghp_",
  "gho_", "ghu_", "ghs_", "ghr_", "AKIA",   "ABIA",    "ACCA",  "ASIA"};

int sextet(char c) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  if (c == '+')
    return 62;
  if (c == '/')
    return 63;
  return -1;
}

// Python's b64decode without validation: skips what is not of the alphabet,
// ends at complete padding, refuses an incomplete last group.
std::optional<std::string> lenient_base64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  int in_group = 0;
  int padding = 0;
  for (char c : text) {
    if (c == '=') {
      ++padding;
      if (in_group >= 2 && in_group + padding >= 4)
        return out;
      continue;
    }
    auto value = sextet(c);
    if (value < 0)
      continue;
    padding = 0;
    bits = bits << 6 | static_cast<unsigned>(value);
    if (++in_group > 1)
      out += static_cast<char>(bits >> (8 - 2 * in_group) & 0xff);
    if (in_group == 4)
      in_group = 0;
  }
  if (in_group != 0)
    return {};
  return out;
}

std::optional<secret> open(std::string_view sealed, const secret& master) {
  if (sealed.size() < salt_bytes + iv_bytes + tag_bytes)
    return {};
  auto salt = sealed.substr(0, salt_bytes);
  auto iv = sealed.substr(salt_bytes, iv_bytes);
  auto body = sealed.substr(salt_bytes + iv_bytes);
  auto size = body.size() - tag_bytes;
  CryptoPP::SecByteBlock key{key_size};
  CryptoPP::PKCS5_PBKDF2_HMAC<CryptoPP::SHA256>{}.DeriveKey(
    key, key.size(), 0, as_bytes(master.reveal()), master.size(),
    as_bytes(salt), salt.size(), iterations);
  CryptoPP::GCM<CryptoPP::AES>::Decryption cipher;
  cipher.SetKeyWithIV(key, key.size(), as_bytes(iv), iv.size());
  std::string plain(size, '\0');
  auto authentic = cipher.DecryptAndVerify(
    reinterpret_cast<CryptoPP::byte*>(plain.data()),
    as_bytes(body.substr(size)), tag_bytes, as_bytes(iv),
    static_cast<int>(iv.size()), nullptr, 0, as_bytes(body), size);
  secret value{std::move(plain)};
  if (!authentic)
    return {};
  return value;
}

} // namespace

bool looks_sealed_by_letta(std::string_view text) {
  if (std::any_of(plain_prefixes.begin(), plain_prefixes.end(),
                  [&](auto prefix) { return text.starts_with(prefix); }))
    return false;
  auto bytes = lenient_base64(text);
  return bytes && bytes->size() >= min_sealed_bytes;
}

result<secret> open_letta_value(std::string_view text, const secret& master) {
  if (master.empty())
    return secret{std::string{text}};
  try {
    if (auto sealed = lenient_base64(text))
      if (auto value = open(*sealed, master))
        return std::move(*value);
  } catch (const CryptoPP::Exception&) {
    // Told below, as any text that does not open.
  }
  if (!looks_sealed_by_letta(text))
    return secret{std::string{text}};
  return error{ec::denied,
               "a stored value of Letta cannot be decrypted with this key; set "
               "the LETTA_ENCRYPTION_KEY that it was encrypted with",
               {},
               {}};
}

} // namespace troupe
