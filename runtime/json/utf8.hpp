#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::json {

/// One step through UTF-8 (RFC 3629: no surrogates, nothing overlong).
struct utf8_step {
  std::uint32_t code = 0; // the code point, when `valid`
  std::size_t size = 0;   // bytes to go on by; never 0
  bool valid = false;
};

/// Reads the sequence at the front of a text that is not empty. An invalid
/// sequence ends before the first byte that cannot belong to it, as Unicode
/// recommends, so that one damaged character becomes one U+FFFD.
utf8_step next_code_point(std::string_view rest) noexcept;

void append_code_point(std::string& out, std::uint32_t code);

/// Length of the front that is printable ASCII without quote and backslash.
std::size_t plain_prefix(std::string_view text) noexcept;

inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

} // namespace troupe::json
