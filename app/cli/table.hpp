#pragma once

#include "runtime/json/json.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Rows for people: columns as wide as what is in them, no frames, so that
/// grep, awk and eyes can read it.
class table {
public:
  explicit table(std::vector<std::string> head);
  void add(std::vector<std::string> row);
  /// Cells of any length: what reads a pipe wants all of it.
  void print(std::ostream& out) const;
  /// On standard output; long cells are cut where that is a terminal.
  void show() const;

private:
  void print(std::ostream& out, std::size_t widest) const;

  std::vector<std::vector<std::string>> rows_; // the first is the head
};

/// On one line, without control characters (a name must not move the cursor),
/// and of at most so many letters.
std::string one_line(std::string text, std::size_t widest);

/// A member as text: strings as they are, lists joined by commas, nothing for
/// null and for what is not there.
std::string cell(const json::value& item, std::string_view member);

} // namespace troupe
