#include "runtime/model/schema/ecma_pattern.hpp"

#include "runtime/json/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace troupe {

namespace {

using code_point = std::uint32_t;

constexpr int deepest_group = 32; // deeper ones no person wrote
constexpr auto npos = std::string_view::npos;

// RE2's \s leaves out \v and all of Unicode.
constexpr std::string_view spaces
  = R"(\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029})"
    R"(\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view no_spaces
  = R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff})"
    R"(\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff})"
    R"(\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_surrogate(code_point code) {
  return code >= 0xd800 && code < 0xe000;
}

/// Every production says no by returning false. What is a mistake in both
/// languages is left for RE2 to find.
class translation {
public:
  explicit translation(std::string_view text) : rest_{text} {}

  std::optional<std::string> run() {
    while (!rest_.empty())
      if (!element())
        return std::nullopt;
    return std::move(out_);
  }

private:
  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix))
      return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  bool element() {
    bool several = false;
    if (take("\\"))
      return escape(false, several);
    if (take("["))
      return bracket();
    if (take("("))
      return group();
    if (take("."))
      return put("[^\\n\\r]");
    if (rest_[0] == '{')
      return repeats();
    depth_ -= rest_[0] == ')';
    if (std::string_view{"^$|)*+?"}.find(rest_[0]) != npos)
      return put(std::string_view{&next(), 1});
    return character();
  }

  const char& next() {
    auto& c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool put(std::string_view text) {
    out_ += text;
    return true;
  }

  bool put(code_point code) {
    if (is_surrogate(code))
      return false; // no text that we get has one
    char digits[8];
    auto end = std::to_chars(digits, std::end(digits), code, 16).ptr;
    out_ += "\\x{";
    out_.append(digits, end);
    out_ += '}';
    return true;
  }

  /// A character that stands for itself.
  bool character() {
    auto step = json::next_code_point(rest_);
    rest_.remove_prefix(step.size);
    return step.valid && put(step.code);
  }

  /// RE2 takes what is no repetition for text.
  bool repeats() {
    auto end = rest_.find('}');
    auto counts = rest_.substr(0, end);
    if (end == npos || counts.size() < 2 || !is_digit(counts[1])
        || counts.find_first_not_of("0123456789,", 1) != npos
        || std::count(counts.begin(), counts.end(), ',') > 1)
      return false;
    out_.append(counts).append("}");
    rest_.remove_prefix(end + 1);
    return true;
  }

  /// Which part of the text a group has matched is of no use here.
  bool group() {
    if (++depth_ > deepest_group)
      return false;
    if (take("?<")) {
      auto end = rest_.find('>');
      if (end == npos || end == 0
          || std::string_view{"=!"}.find(rest_[0]) != npos)
        return false;
      rest_.remove_prefix(end + 1);
    } else if (!take("?:") && rest_.starts_with('?')) {
      return false; // look-around
    }
    return put("(?:");
  }

  bool bracket() {
    const bool negated = take("^");
    if (take("]")) // no character, or every one: to RE2 no end of the class
      return put(negated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]");
    put(negated ? "[^" : "[");
    while (!rest_.empty() && rest_[0] != ']') {
      bool several = false;
      if (!member(several))
        return false;
      if (several || rest_.size() < 2 || rest_[0] != '-' || rest_[1] == ']')
        continue;
      rest_.remove_prefix(1);
      if (!put("-") || !member(several) || several)
        return false;
    }
    return take("]") && put("]");
  }

  bool member(bool& several) {
    return take("\\") ? escape(true, several) : character();
  }

  /// Behind a backslash; `several`: it is a class, which ends no range.
  bool escape(bool inside, bool& several) {
    if (rest_.empty() || static_cast<unsigned char>(rest_[0]) >= 0x80)
      return false;
    const char c = next();
    several = std::string_view{"dDwWsSpP"}.find(c) != npos;
    if (c == 'b' || c == 'B')
      return inside ? c == 'b' && put(code_point{'\b'})
                    : put(c == 'b' ? "\\b" : "\\B");
    if (c == 's' || c == 'S')
      return put(inside ? "" : "[") && put(c == 's' ? spaces : no_spaces)
        && put(inside ? "" : "]");
    if (!several)
      return literal(c);
    return put("\\") && put(std::string_view{&c, 1})
      && ((c != 'p' && c != 'P') || property());
  }

  /// A class of Unicode's. Of the long names RE2 knows those of scripts.
  bool property() {
    auto end = rest_.find('}');
    if (end == npos || !take("{"))
      return false;
    auto name = rest_.substr(0, end - 1);
    rest_.remove_prefix(end);
    for (std::string_view kind : {"Script=", "sc=", "General_Category=", "gc="})
      if (name.starts_with(kind))
        name.remove_prefix(kind.size());
    for (char c : name)
      if (!is_letter(c) && c != '_')
        return false;
    return put("{") && put(name) && put("}");
  }

  /// One character that is spelled in another way.
  bool literal(char c) {
    static constexpr std::string_view letters = "nrtfv";
    static constexpr std::string_view meanings = "\n\r\t\f\v";
    code_point code = static_cast<unsigned char>(c);
    if (auto i = letters.find(c); i != npos)
      code = static_cast<code_point>(meanings[i]);
    else if (c == '0' && (rest_.empty() || !is_digit(rest_[0])))
      code = 0;
    else if (c == 'c' && !rest_.empty() && is_letter(rest_[0]))
      code = static_cast<unsigned char>(next()) % 32u;
    else if (c == 'x' || c == 'u')
      return (c == 'x' ? hex(2, code) : unicode(code)) && put(code);
    else if (is_letter(c) || is_digit(c))
      return false; // \1, \k<name>, and what no language knows
    return put(code);
  }

  /// Behind `\u`: four digits, braces, or two halves of a pair.
  bool unicode(code_point& code) {
    if (take("{")) {
      auto end = rest_.find('}');
      return end != npos && end <= 8 && hex(end, code) && take("}");
    }
    code_point low = 0;
    if (!hex(4, code))
      return false;
    if (code < 0xd800 || code >= 0xdc00)
      return true;
    if (!take("\\u") || !hex(4, low) || low < 0xdc00 || low >= 0xe000)
      return false;
    code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    return true;
  }

  bool hex(std::size_t digits, code_point& code) {
    auto text = rest_.substr(0, digits);
    auto end = text.data() + text.size();
    if (digits == 0 || text.size() < digits
        || std::from_chars(text.data(), end, code, 16).ptr != end)
      return false;
    rest_.remove_prefix(digits);
    return true;
  }

  std::string_view rest_;
  std::string out_;
  int depth_ = 0;
};

} // namespace

std::optional<std::string> to_re2(std::string_view ecma) {
  return translation{ecma}.run();
}

} // namespace troupe
