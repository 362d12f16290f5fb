#include "net/api/sandboxes/file_paths.hpp"

#include "runtime/base/text.hpp"

#include <charconv>

namespace troupe::net {

std::optional<std::string> path_in_query(query_reader& query) {
  auto path = query.text("path");
  if (!path)
    query.complain("path", "is missing", "an absolute path of the sandbox");
  else if (auto fine = check_sandbox_path(*path); !fine)
    query.complain("path", fine.error().text);
  return path;
}

std::optional<byte_range> wanted_range(const request& in) {
  constexpr std::string_view unit = "bytes=";
  auto text = in.field("range");
  // We say nothing that If-Range could be compared with.
  if (in.count("range") != 1 || in.has("if-range")
      || !equal_ignoring_case(text.substr(0, unit.size()), unit))
    return std::nullopt;
  text = trim(text.substr(unit.size()));
  const auto dash = text.find('-');
  if (dash == text.npos)
    return std::nullopt;
  const auto read = [](std::string_view digits, std::uint64_t& into) {
    const auto* end = digits.data() + digits.size();
    const auto [at, code] = std::from_chars(digits.data(), end, into);
    return code == std::errc{} && at == end;
  };
  const auto first = text.substr(0, dash);
  const auto last = text.substr(dash + 1);
  byte_range range;
  if (!first.empty() && !read(first, range.first.emplace()))
    return std::nullopt;
  if (!last.empty() && !read(last, range.last))
    return std::nullopt;
  if (last.empty() && first.empty())
    return std::nullopt;
  if (range.first && *range.first > range.last)
    return std::nullopt;
  return range;
}

} // namespace troupe::net
