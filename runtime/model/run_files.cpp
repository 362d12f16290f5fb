#include "runtime/model/run_files.hpp"

#include "runtime/json/json.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::size_t longest_name = 1'024; // of the whole path
constexpr std::size_t longest_part = 255;   // NAME_MAX

constexpr std::array<std::pair<std::string_view, std::string_view>, 28> types{{
  {".css", "text/css"},
  {".csv", "text/csv"},
  {".docx",
   "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
  {".gif", "image/gif"},
  {".gz", "application/gzip"},
  {".htm", "text/html"},
  {".html", "text/html"},
  {".jpeg", "image/jpeg"},
  {".jpg", "image/jpeg"},
  {".js", "text/javascript"},
  {".json", "application/json"},
  {".jsonl", "application/jsonl"},
  {".log", "text/plain"},
  {".md", "text/markdown"},
  {".mp3", "audio/mpeg"},
  {".mp4", "video/mp4"},
  {".parquet", "application/vnd.apache.parquet"},
  {".pdf", "application/pdf"},
  {".png", "image/png"},
  {".svg", "image/svg+xml"},
  {".tsv", "text/tab-separated-values"},
  {".txt", "text/plain"},
  {".wav", "audio/wav"},
  {".webp", "image/webp"},
  {".xlsx",
   "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
  {".xml", "application/xml"},
  {".yaml", "application/yaml"},
  {".zip", "application/zip"},
}};

result<void> check_path(std::string_view path, const std::string& pointer,
                        const char* what) {
  auto bad = [&](std::string why) {
    return bad_field(pointer, std::move(why),
                     std::string{what} + " below the run's directory");
  };
  if (path.empty() || path.size() > longest_name)
    return bad("must have 1 to 1024 bytes");
  if (path.find('\0') != path.npos || !json::is_utf8(path))
    return bad("has a NUL character, or is not UTF-8");
  if (path.front() == '/')
    return bad("must not be absolute");
  while (true) {
    const auto part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..")
      return bad("must not have empty parts, '.' or '..'");
    if (part.size() > longest_part)
      return bad("has a part of more than 255 bytes");
    if (part.size() == path.size())
      return {};
    path.remove_prefix(part.size() + 1);
  }
}

} // namespace

result<void> check_file_name(std::string_view name,
                             const std::string& pointer) {
  return check_path(name, pointer, "a name");
}

result<void> check_output_pattern(std::string_view pattern,
                                  const std::string& pointer) {
  return check_path(pattern, pointer, "a pattern such as *.png");
}

std::string_view media_type_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot != name.npos) {
    std::string end{name.substr(dot)};
    std::ranges::transform(end, end.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    for (const auto& [known, type] : types)
      if (known == end)
        return type;
  }
  return "application/octet-stream";
}

bool is_plain_text(std::string_view bytes) {
  return bytes.find('\0') == bytes.npos && json::is_utf8(bytes);
}

} // namespace troupe
