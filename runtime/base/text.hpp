#pragma once

#include <string_view>

namespace troupe {

inline constexpr std::string_view blank_characters = " \t\r\n";

/// Without the blank_characters around it.
constexpr std::string_view trim(std::string_view text,
                                std::string_view blank = blank_characters) {
  const auto first = text.find_first_not_of(blank);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

} // namespace troupe
