#pragma once

#include <string_view>

namespace troupe {

/// Among a result's notes: which of its value's texts were no texts.
inline constexpr std::string_view odd_numbers_note
  = "numbers without a JSON form are strings in the value: NaN, Infinity, "
    "-Infinity";

/// Which bytes of its output were no text.
inline constexpr std::string_view not_utf8_note
  = "bytes of the output that are not UTF-8 stand as U+FFFD in it: write them "
    "into a file and name that in outputs";

} // namespace troupe
