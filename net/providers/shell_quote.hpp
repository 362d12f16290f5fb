#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

/// One word of a POSIX shell, whatever it contains: for providers whose
/// interface takes a shell line where we have arguments.
inline std::string shell_quote(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos)
    return std::string{word};
  std::string out = "'";
  for (char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

inline std::string shell_line(const std::vector<std::string>& argv) {
  std::string out;
  for (const auto& word : argv) {
    if (!out.empty())
      out += ' ';
    out += shell_quote(word);
  }
  return out;
}

} // namespace troupe::net
