#include "runtime/settings/ini_lines.hpp"

namespace troupe {

namespace {

class scanner {
public:
  explicit scanner(std::string_view text) : text_{text} {}

  std::vector<ini_line> run() {
    while (!at_end()) {
      skip_blanks();
      if (at_end())
        break;
      if (peek() == ';' || peek() == '\n')
        skip_line();
      else if (peek() == '[')
        read_group();
      else
        read_key();
    }
    return std::move(found_);
  }

private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return text_[at_]; }
  char next() {
    char c = text_[at_++];
    line_ += c == '\n';
    return c;
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static std::string trimmed(std::string text) {
    while (!text.empty() && (is_blank(text.back()) || text.back() == '\n'))
      text.pop_back();
    return text;
  }

  void skip_blanks() {
    while (!at_end() && is_blank(peek()))
      next();
  }
  void skip_line() {
    while (!at_end() && next() != '\n') {
    }
  }

  void read_group() {
    auto line = line_;
    next();
    skip_blanks();
    group_.clear();
    while (!at_end() && peek() != ']' && peek() != '\n')
      group_ += next();
    group_ = trimmed(std::move(group_));
    found_.push_back({group_, "", "", line, true});
    if (!at_end() && peek() == ']')
      next();
  }

  void read_key() {
    auto line = line_;
    std::string name;
    while (!at_end() && peek() != '=' && peek() != '{' && peek() != '\n')
      name += next();
    if (at_end() || peek() == '\n')
      return;
    if (peek() == '=')
      next();
    skip_blanks();
    auto raw = read_value();
    auto complete = depth_ == 0 && !raw.empty();
    found_.push_back(
      {group_, trimmed(std::move(name)), std::move(raw), line, complete});
  }

  /// Up to the end of the line, or over several while brackets are open.
  std::string read_value() {
    std::string raw;
    depth_ = 0;
    while (!at_end()) {
      char c = peek();
      if (c == '\n' && depth_ <= 0)
        break;
      if (c == ';') {
        while (!at_end() && peek() != '\n')
          next();
      } else if (c == '"' || c == '\'') {
        read_quoted(raw, c);
      } else {
        depth_ += (c == '[' || c == '{') - (c == ']' || c == '}');
        raw += next();
      }
    }
    return trimmed(std::move(raw));
  }

  void read_quoted(std::string& raw, char quote) {
    raw += next();
    while (!at_end() && peek() != '\n') {
      char c = next();
      raw += c;
      if (c == '\\' && !at_end() && peek() != '\n')
        raw += next();
      else if (c == quote)
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  int depth_ = 0; // open brackets of the value that is being read
  std::string group_ = "global"; // CAF's word for keys before any group
  std::vector<ini_line> found_;
};

} // namespace

std::vector<ini_line> scan_ini(std::string_view text) {
  return scanner{text}.run();
}

} // namespace troupe
