#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Where the keys of a config.ini stand. CAF parses the file, but forgets
/// lines, turns a duration that does not fit into a wrong one, and drops a
/// value that the end of the file cut off: so this keeps the text of each value
/// as well.
struct ini_line {
  std::string group;
  std::string name; // "": the line of a [group]
  std::string raw;  // the value without blanks around it and without comment
  std::size_t line = 0;
  bool complete = true; // false: no value, or a bracket was never closed
};

/// In the order of the text. Never fails: what it does not understand, CAF
/// will refuse.
std::vector<ini_line> scan_ini(std::string_view text);

} // namespace troupe
