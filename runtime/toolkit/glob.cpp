#include "runtime/toolkit/glob.hpp"

#include <algorithm>

namespace troupe::toolkit {

namespace {

constexpr std::size_t longest_pattern = 1'000;
constexpr std::size_t most_alternatives = 256;

/// `{a,b}` written out; false when that is too much, or a brace is open.
bool expand(std::string_view pattern, std::vector<std::string>& into) {
  const auto open = pattern.find('{');
  if (open == pattern.npos) {
    into.emplace_back(pattern);
    return into.size() <= most_alternatives;
  }
  std::size_t depth = 0, part = open + 1;
  std::vector<std::string_view> parts;
  for (auto i = open; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '{')
      ++depth;
    if ((c == ',' && depth == 1) || (c == '}' && depth == 1)) {
      parts.push_back(pattern.substr(part, i - part));
      part = i + 1;
    }
    if (c != '}' || --depth != 0)
      continue;
    for (auto each : parts) {
      std::string one{pattern.substr(0, open)};
      one.append(each).append(pattern.substr(i + 1));
      if (!expand(one, into))
        return false;
    }
    return true;
  }
  return false;
}

/// Where a set that begins at `at` ends, and whether it has `c`.
struct set_match {
  std::size_t end; // 0: it is no set
  bool has;
};
set_match match_set(std::string_view pattern, std::size_t at, char c) {
  auto i = at + 1;
  const bool negated
    = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated)
    ++i;
  const auto first = i;
  bool has = false;
  for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-'
        && pattern[i + 2] != ']') {
      has = has || (c >= pattern[i] && c <= pattern[i + 2]);
      i += 2;
    } else {
      has = has || c == pattern[i];
    }
  }
  if (i >= pattern.size())
    return {0, false};
  return {i + 1, has != negated};
}

/// One name against one part, with the usual two places to come back to.
bool name_matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.'))
    return false;
  std::size_t p = 0, n = 0, star = pattern.npos, again = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      again = n;
      continue;
    }
    if (p < pattern.size()) {
      auto set = pattern[p] == '[' ? match_set(pattern, p, name[n])
                                   : set_match{0, false};
      if (set.end != 0 ? set.has
                       : (pattern[p] == '?' || pattern[p] == name[n])) {
        p = set.end != 0 ? set.end : p + 1;
        ++n;
        continue;
      }
    }
    if (star == pattern.npos)
      return false;
    p = star + 1;
    n = ++again;
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0)
      parts.push_back(path.substr(0, slash));
    if (slash == path.npos)
      break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

/// As text with `*` over characters, one level up: `**` over names.
bool path_matches(const std::vector<std::string_view>& pattern,
                  const std::vector<std::string_view>& path) {
  std::size_t p = 0, n = 0, star = pattern.size() + 1, again = 0;
  while (n < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      again = n;
      continue;
    }
    if (p < pattern.size() && name_matches(pattern[p], path[n])) {
      ++p;
      ++n;
      continue;
    }
    if (star > pattern.size() || path[again].starts_with('.'))
      return false;
    p = star + 1;
    n = ++again;
  }
  while (p < pattern.size() && pattern[p] == "**")
    ++p;
  return p == pattern.size();
}

} // namespace

result<glob> glob::parse(std::string_view pattern) {
  glob out;
  if (pattern.empty() || pattern.size() > longest_pattern
      || pattern.find('\0') != pattern.npos)
    return fail(ec::invalid_request,
                "the pattern has to have 1 to 1,000 characters");
  if (!expand(pattern, out.alternatives_))
    return fail(ec::invalid_request,
                "the pattern has an open brace, or too many alternatives");
  for (auto& each : out.alternatives_)
    if (each.find('/') == each.npos)
      each.insert(0, "**/");
  return out;
}

bool glob::matches(std::string_view path) const {
  const auto parts = split(path);
  return std::any_of(
    alternatives_.begin(), alternatives_.end(),
    [&](const std::string& each) { return path_matches(split(each), parts); });
}

} // namespace troupe::toolkit
