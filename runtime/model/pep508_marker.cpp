#include "runtime/model/pep508_marker.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::size_t longest_marker = 512;
constexpr int deepest_brackets = 8;

// `extra` is missing: it has a meaning inside of packages only.
constexpr std::array<std::string_view, 11> variables{
  "os_name",
  "sys_platform",
  "platform_machine",
  "platform_python_implementation",
  "platform_release",
  "platform_system",
  "platform_version",
  "python_version",
  "python_full_version",
  "implementation_name",
  "implementation_version"};

// What begins like another one stands behind it.
constexpr std::array<std::string_view, 8> operators{
  "===", "==", "~=", "!=", "<=", ">=", "<", ">"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Of a text between quotes: nothing that could end it, or a line.
bool is_plain(char c) {
  return is_word(c) || (c >= '0' && c <= '9')
    || std::string_view{" .-+*:/,~()"}.find(c) != std::string_view::npos;
}

class marker_reader {
public:
  explicit marker_reader(std::string_view text) : rest_{text} {}

  bool read(std::string& out) {
    return alternatives(out, 0) && (skip(), rest_.empty());
  }

private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (!rest_.starts_with(c))
      return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    skip();
    auto end = std::ranges::find_if_not(rest_, is_word);
    auto taken = rest_.substr(
      0, static_cast<std::size_t>(std::distance(rest_.begin(), end)));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool take_word(std::string_view wanted) {
    auto before = rest_;
    if (word() == wanted)
      return true;
    rest_ = before;
    return false;
  }

  bool alternatives(std::string& out, int depth) {
    if (!conjunction(out, depth))
      return false;
    while (take_word("or")) {
      out += " or ";
      if (!conjunction(out, depth))
        return false;
    }
    return true;
  }
  bool conjunction(std::string& out, int depth) {
    if (!term(out, depth))
      return false;
    while (take_word("and")) {
      out += " and ";
      if (!term(out, depth))
        return false;
    }
    return true;
  }
  bool term(std::string& out, int depth) {
    if (!take('('))
      return comparison(out);
    out += '(';
    if (depth == deepest_brackets || !alternatives(out, depth + 1)
        || !take(')'))
      return false;
    out += ')';
    return true;
  }
  bool comparison(std::string& out) {
    bool first = false;
    bool second = false;
    return value(out, first) && relation(out) && value(out, second)
      && first != second; // a variable on one side, a text on the other
  }
  bool relation(std::string& out) {
    skip();
    for (auto each : operators)
      if (rest_.starts_with(each)) {
        rest_.remove_prefix(each.size());
        out += " " + std::string{each} + " ";
        return true;
      }
    const bool negated = take_word("not");
    if (!take_word("in"))
      return false;
    out += negated ? " not in " : " in ";
    return true;
  }
  bool value(std::string& out, bool& is_variable) {
    skip();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    is_variable = quote != '"' && quote != '\'';
    if (is_variable) {
      auto name = word();
      out += name;
      return std::ranges::find(variables, name) != variables.end();
    }
    auto end = rest_.find(quote, 1);
    if (end == rest_.npos)
      return false;
    auto inner = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    out += '"' + std::string{inner} + '"';
    return std::ranges::all_of(inner, is_plain);
  }

  std::string_view rest_;
};

} // namespace

result<std::string> parse_marker(std::string_view text) {
  std::string out;
  if (text.size() <= longest_marker && marker_reader{text}.read(out)
      && out.size() <= longest_marker)
    return out;
  return bad_field("", "the text after ';' is not an environment marker",
                   "write a comparison such as python_version < \"3.11\"");
}

} // namespace troupe
