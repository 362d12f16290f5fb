#include "runtime/toolkit/text_budget.hpp"

#include "runtime/json/json.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe::toolkit {

namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

/// Where the character with this number begins, or the end.
std::size_t offset_of(std::string_view text, std::size_t number) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (begins_character(text[i]) && seen++ == number)
      return i;
  return text.size();
}

/// Where an escape sequence that begins at `at` ends.
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  auto i = at + 1;
  if (i == text.size())
    return i;
  const char kind = text[i++];
  if (kind == '[') { // CSI: parameters, then one letter
    while (i < text.size() && (text[i] < '@' || text[i] > '~'))
      ++i;
    return std::min(i + 1, text.size());
  }
  if (kind != ']' && kind != 'P' && kind != '_' && kind != '^')
    return kind == '(' || kind == ')' ? std::min(i + 1, text.size()) : i;
  // A string: up to BEL or ESC backslash.
  while (i < text.size() && text[i] != '\a' && text[i] != '\x1b')
    ++i;
  if (i < text.size() && text[i] == '\x1b')
    ++i;
  return std::min(i + 1, text.size());
}

} // namespace

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(), begins_character));
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t')
      out += c;
  }
  return out;
}

std::string plain_text(std::string_view output) {
  std::string out;
  out.reserve(output.size());
  for (std::size_t i = 0; i < output.size();) {
    if (output[i] == '\x1b')
      i = end_of_escape(output, i);
    else
      out += output[i++];
  }
  return json::repair_utf8(without_controls(out));
}

std::string cut_middle(std::string_view text, std::size_t most,
                       std::string_view whole) {
  const auto all = text.size() <= most ? text.size() : characters(text);
  if (all <= most)
    return std::string{text};
  auto head = offset_of(text, most * 2 / 5);
  auto tail = offset_of(text, all - most * 3 / 5);
  // At ends of lines, where there is one that is near enough.
  if (const auto end = text.rfind('\n', head);
      end != text.npos && end >= head / 2)
    head = end + 1;
  if (const auto end = text.find('\n', tail);
      end != text.npos && end - tail <= (text.size() - tail) / 2)
    tail = end + 1;
  const auto left_out = text.substr(head, tail - head);
  const auto lines = std::count(left_out.begin(), left_out.end(), '\n');
  std::string out{text.substr(0, head)};
  if (!out.empty() && out.back() != '\n')
    out += '\n';
  out += "[… " + with_commas(characters(left_out)) + " characters ("
    + counted(static_cast<std::uint64_t>(lines), "line") + ") left out";
  if (!whole.empty())
    out.append("; ").append(whole);
  return out.append(" …]\n").append(text.substr(tail));
}

std::string cut_line(std::string_view line) {
  if (line.size() <= longest_line)
    return std::string{line};
  const auto all = characters(line);
  if (all <= longest_line)
    return std::string{line};
  return std::string{line.substr(0, offset_of(line, longest_line))} + "… [+"
    + with_commas(all - longest_line) + " characters]";
}

std::string with_commas(std::uint64_t number) {
  auto out = std::to_string(number);
  for (auto i = out.size(); i > 3;)
    out.insert(i -= 3, 1, ',');
  return out;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1'024)
    return std::to_string(bytes) + " B";
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1'024;
  std::size_t unit = 0;
  for (; value >= 1'024 && unit + 1 < std::size(units); ++unit)
    value /= 1'024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string seconds_text(std::uint64_t milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, milliseconds < 10'000 ? "%.2f s" : "%.1f s",
                static_cast<double>(milliseconds) / 1'000);
  return text;
}

std::string counted(std::uint64_t number, std::string_view one) {
  return with_commas(number) + " " + std::string{one}
  + (number == 1 ? "" : "s");
}

} // namespace troupe::toolkit
