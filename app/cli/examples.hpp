#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// Examples of a command, one per line: for its help and for the manual. Named
/// as it is typed, "tool put".
using command_example = std::pair<std::string_view, std::string_view>;

/// One per command; a test parses each of their lines.
const std::vector<command_example>& command_examples();

/// Those of the program as a whole, with a word on each.
extern const std::string_view first_examples;

/// "": there is none.
std::string_view examples_of(std::string_view command);

} // namespace troupe
