#include "app/cli/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

// What is longer belongs into a pipe, or into --json.
constexpr std::size_t widest_shown = 60;
constexpr std::string_view gap = "  ";

std::size_t letters(std::string_view text) {
  // Continuation bytes of UTF-8 take no room on a screen.
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(),
                  [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string text_of(const json::value& v) {
  if (v.is_null())
    return {};
  if (v.is_string())
    return std::string{v.get_string()};
  if (!v.is_array())
    return json::to_text(v);
  std::string all;
  for (const auto& item : v.get_array())
    all += (all.empty() ? "" : ",") + text_of(item);
  return all;
}

} // namespace

std::string one_line(std::string text, std::size_t widest) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = ' ';
  if (letters(text) <= widest)
    return text;
  std::size_t end = 0;
  for (std::size_t n = 0; end < text.size() && n < widest; ++n)
    do
      ++end;
    while (end < text.size()
           && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return text.substr(0, end) + "…";
}

table::table(std::vector<std::string> head) {
  rows_.push_back(std::move(head));
}

void table::add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

void table::print(std::ostream& out) const {
  print(out, std::string::npos);
}

void table::show() const {
  print(std::cout,
        ::isatty(STDOUT_FILENO) == 1 ? widest_shown : std::string::npos);
}

void table::print(std::ostream& out, std::size_t widest) const {
  auto rows = rows_;
  std::vector<std::size_t> widths(rows.front().size());
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = one_line(std::move(row[i]), widest);
      widths[i] = std::max(widths[i], letters(row[i]));
    }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size())
        line += std::string(widths[i] - letters(row[i]), ' ') += gap;
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

std::string cell(const json::value& item, std::string_view member) {
  auto object = item.if_object();
  auto found = object ? object->if_contains(member) : nullptr;
  return found ? text_of(*found) : std::string{};
}

} // namespace troupe
