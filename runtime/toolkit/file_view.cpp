#include "runtime/toolkit/file_view.hpp"

#include "runtime/json/json.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace troupe::toolkit {

namespace {

constexpr std::size_t looked_at = 8u << 10; // to tell text from the rest

struct file_mark {
  std::string_view begins;
  std::string_view type;
};
constexpr file_mark pictures[] = {
  {"\x89PNG\r\n\x1a\n", "image/png"},
  {"\xff\xd8\xff", "image/jpeg"},
  {"GIF87a", "image/gif"},
  {"GIF89a", "image/gif"},
};
constexpr file_mark others[] = {
  {"PK\x03\x04", "application/zip"},
  {"%PDF-", "application/pdf"},
  {"\x1f\x8b", "application/gzip"},
  {"\x7f"
   "ELF",
   "application/x-executable"},
  {"SQLite format 3", "application/vnd.sqlite3"},
};

std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    starts.push_back(at);
    const auto end = text.find('\n', at);
    if (end == text.npos)
      break;
    at = end + 1;
  }
  return starts;
}

} // namespace

std::optional<std::string> numbered_lines(std::string_view text,
                                          const line_wish& wish,
                                          std::size_t& lines) {
  const auto starts = line_starts(text);
  lines = starts.size();
  if (lines == 0)
    return "[empty file]";
  const auto all = static_cast<std::int64_t>(lines);
  auto first = wish.start < 0 ? std::max<std::int64_t>(1, all + wish.start + 1)
                              : std::max<std::int64_t>(1, wish.start);
  if (first > all)
    return std::nullopt;
  const auto last = std::min(all, first + std::min(wish.count, all) - 1);
  std::string out;
  auto at = first;
  std::size_t used = 0;
  for (; at <= last; ++at) {
    const auto begin = starts[static_cast<std::size_t>(at - 1)];
    auto line = text.substr(begin, text.find('\n', begin) - begin);
    char number[32];
    std::snprintf(number, sizeof number, "%6lld\t", static_cast<long long>(at));
    auto shown = number + json::repair_utf8(cut_line(line)) + "\n";
    used += characters(shown);
    if (used > wish.most_characters && at > first)
      break;
    out += shown;
  }
  const auto end = at - 1;
  if (first == 1 && end == all)
    out += "[end of file, " + counted(lines, "line") + "]";
  else if (end == all)
    out += "[lines " + std::to_string(first) + "-" + std::to_string(end)
      + " of " + std::to_string(all) + "; end of file]";
  else
    out += "[lines " + std::to_string(first) + "-" + std::to_string(end)
      + " of " + std::to_string(all)
      + "; next: start_line=" + std::to_string(end + 1) + "]";
  if (!json::is_utf8(text))
    out += "\n[not all of it was UTF-8]";
  return out;
}

std::string_view picture_type(std::string_view bytes) {
  for (const auto& [begins, type] : pictures)
    if (bytes.starts_with(begins))
      return type;
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP"))
    return "image/webp";
  return {};
}

std::string_view binary_type(std::string_view bytes) {
  if (auto picture = picture_type(bytes); !picture.empty())
    return picture;
  for (const auto& [begins, type] : others)
    if (bytes.starts_with(begins))
      return type;
  if (bytes.substr(0, looked_at).find('\0') != bytes.npos)
    return "application/octet-stream";
  return {};
}

void sort_entries(std::vector<sandbox_entry>& all) {
  std::sort(all.begin(), all.end(),
            [](const sandbox_entry& a, const sandbox_entry& b) {
              return a.folder != b.folder ? a.folder : a.name < b.name;
            });
}

std::string entry_line(const sandbox_entry& e) {
  auto name = plain_text(e.name);
  return e.folder ? name + "/" : name + "  " + size_text(e.bytes);
}

} // namespace troupe::toolkit
