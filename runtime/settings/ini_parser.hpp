#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One value of a config.ini.
struct file_entry {
  std::string group = "global"; // of keys before the first [group]
  std::string name;             // "": the line of a [group]
  std::string text;             // without quotes; of a list, nothing
  std::vector<std::string> items;
  bool is_list = false;
  std::size_t line = 0; // 0: unknown
};

/// What cannot be read, and where.
struct ini_problem {
  std::size_t line = 0;
  std::string reason;
  std::string hint;
};

struct ini_file {
  std::vector<file_entry> entries; // in the order of the text
  std::vector<ini_problem> problems;
};

/// Reads
///
///     [group]
///     name = value      ; a comment, or # one
///
/// where a value is a bare word or several, a text in single or double quotes
/// (with \" \\ \n \t in double ones), or a list in brackets, over as many lines
/// as it likes. What is broken costs one line and is told; the rest is read.
ini_file parse_ini(std::string_view text);

} // namespace troupe
