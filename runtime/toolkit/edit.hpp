#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace troupe::toolkit {

/// What became of a text that was to be edited.
struct edited {
  std::string text;
  std::size_t places = 0;
  /// How it was found: "" exactly, else what was set aside.
  std::string_view matched{};
};

/// Replaces a piece of a text. It is found exactly; where it is not, whole
/// lines are compared without trailing blanks, then without indentation, and
/// then exactly one place must match. A failure says, for a model, what to do.
result<edited> replace_piece(std::string_view text, std::string_view old_piece,
                             std::string_view new_piece, bool all);

/// A unified diff with three lines of context, at most so many lines; "" for
/// equal texts.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name, std::size_t most_lines = 60);

} // namespace troupe::toolkit
