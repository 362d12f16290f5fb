#pragma once

#include <string_view>

namespace troupe {

/// Among a result's notes: which of its value's texts were no texts.
inline constexpr std::string_view odd_numbers_note
  = "numbers without a JSON form are strings in the value: NaN, Infinity, "
    "-Infinity";

} // namespace troupe
