#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::frame {

/// CRC-32 as zlib, Python's `binascii` and PNG have it. `before` continues an
/// earlier call, so that pieces need not be joined.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0) noexcept;

} // namespace troupe::frame
