#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

using sha256_digest = std::array<std::uint8_t, 32>;

sha256_digest sha256(std::string_view bytes);
/// Of the parts one after the other.
sha256_digest sha256_joined(std::initializer_list<std::string_view> parts);

/// Lower case.
std::string hex(std::span<const std::uint8_t> bytes);

/// The digest as one big-endian number, in decimal, without padding.
std::string decimal(const sha256_digest& digest);

} // namespace troupe
