#pragma once

#include "runtime/engine/sandbox_files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Files and folders as models see them.
namespace troupe::toolkit {

/// Which lines of a file.
struct line_wish {
  std::int64_t start = 1; // negative: counted from the end
  std::int64_t count = 1'000;
  std::size_t most_characters = 30'000;
};

/// Lines with their numbers, and where to go on. Nothing when the file has
/// fewer lines; `lines` becomes how many it has.
std::optional<std::string> numbered_lines(std::string_view text,
                                          const line_wish& wish,
                                          std::size_t& lines);

/// "image/png" by the first bytes, "" for no picture that can be shown.
std::string_view picture_type(std::string_view bytes);
/// No text: what it is, as far as it is known; "" for text.
std::string_view binary_type(std::string_view bytes);

/// Folders first, then by name.
void sort_entries(std::vector<sandbox_entry>& all);
/// "src/" or "app.py  1.2 KiB".
std::string entry_line(const sandbox_entry& e);

} // namespace troupe::toolkit
