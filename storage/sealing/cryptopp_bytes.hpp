#pragma once

#include <cryptopp/config_int.h>

#include <string_view>

namespace troupe {

/// Text as Crypto++ wants to read it.
inline const CryptoPP::byte* as_bytes(std::string_view s) {
  return reinterpret_cast<const CryptoPP::byte*>(s.data());
}

} // namespace troupe
