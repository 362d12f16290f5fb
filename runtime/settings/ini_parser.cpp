#include "runtime/settings/ini_parser.hpp"

#include "runtime/base/text.hpp"

#include <optional>

namespace troupe {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool begins_comment(std::string_view text) {
  return !text.empty() && (text.front() == ';' || text.front() == '#');
}

/// Nothing more to read on this line.
bool is_over(std::string_view rest) {
  rest = trim(rest);
  return rest.empty() || begins_comment(rest);
}

/// A bare word ends before a comment, which stands behind a blank: a URL may
/// have a '#', and a list its commas.
std::string_view before_comment(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (is_blank(text[i - 1]) && begins_comment(text.substr(i)))
      return trim(text.substr(0, i));
  return trim(text);
}

/// Takes a quoted text off the front of `rest`. Empty: it never ends.
std::optional<std::string> take_quoted(std::string_view& rest) {
  const char quote = rest.front();
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (rest[i] == '\\' && quote == '"' && i + 1 < rest.size()) {
      const char c = rest[++i];
      text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      text += rest[i];
    }
  }
  return std::nullopt;
}

/// A name or a text as it is shown in a complaint.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string out;
  for (char c : text.substr(0, most))
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text.size() > most ? out + "..." : out;
}

class parser {
public:
  explicit parser(std::string_view text) : left_{text} {}

  ini_file run() {
    for (std::string_view line; take_line(line);) {
      line = trim(line);
      if (is_over(line))
        continue;
      if (line.front() == '[')
        read_group(line);
      else
        read_key(line);
    }
    return std::move(found_);
  }

private:
  bool take_line(std::string_view& line) {
    if (left_.empty())
      return false;
    const auto end = left_.find('\n');
    line = left_.substr(0, end);
    left_ = end == left_.npos ? "" : left_.substr(end + 1);
    ++line_;
    return true;
  }

  void complain(std::size_t line, std::string reason, std::string hint) {
    found_.problems.push_back({line, std::move(reason), std::move(hint)});
  }

  void read_group(std::string_view line) {
    const auto end = line.find(']');
    if (end == line.npos || !is_over(line.substr(end + 1)))
      return complain(line_, shown(line) + " is not a [group]",
                      "a group is a name in brackets: [http]");
    group_ = trim(line.substr(1, end - 1));
    found_.entries.push_back({group_, "", "", {}, false, line_});
  }

  void read_key(std::string_view line) {
    const auto equals = line.find('=');
    const auto name = trim(line.substr(0, equals));
    if (equals == line.npos || name.empty())
      return complain(line_,
                      shown(line) + " is neither a [group] nor a setting",
                      "write name = value");
    file_entry entry{group_, std::string{name}, "", {}, false, line_};
    if (read_value(trim(line.substr(equals + 1)), entry))
      found_.entries.push_back(std::move(entry));
  }

  bool read_value(std::string_view rest, file_entry& entry) {
    const auto path = shown(entry.group + "." + entry.name);
    if (is_over(rest)) {
      complain(line_, path + " has no value",
               "add one, \"\" for an empty string, or remove the line");
      return false;
    }
    if (rest.front() == '[')
      return read_list(rest.substr(1), entry, path);
    if (rest.front() != '"' && rest.front() != '\'') {
      entry.text = before_comment(rest);
      return true;
    }
    auto text = take_quoted(rest);
    if (!text)
      complain(line_, path + " has no closing quote", "add it");
    else if (!is_over(rest))
      complain(line_, path + " continues after its closing quote",
               "a comment begins with ; or #");
    else
      entry.text = std::move(*text);
    return text && is_over(rest);
  }

  bool read_list(std::string_view rest, file_entry& entry,
                 const std::string& path) {
    entry.is_list = true;
    const auto begun = line_;
    bool wants_comma = false;
    for (;;) {
      rest = trim(rest);
      if (is_over(rest)) {
        if (goes_on(rest))
          continue;
        complain(begun, path + " has no closing bracket", "add a ]");
        return false;
      }
      if (rest.front() == ']')
        break;
      if (wants_comma != (rest.front() == ',')) {
        complain(line_, path + " has entries without a comma between them",
                 "write [\"a\", \"b\"]");
        return false;
      }
      if (wants_comma)
        rest.remove_prefix(1);
      else if (auto item = take_item(rest))
        entry.items.push_back(std::move(*item));
      else {
        complain(line_, path + " has an entry that cannot be read",
                 "write [\"a\", \"b\"]");
        return false;
      }
      wants_comma = !wants_comma;
    }
    if (is_over(rest.substr(1)))
      return true;
    complain(line_, path + " continues after its closing bracket",
             "a comment begins with ; or #");
    return false;
  }

  /// A list takes the next line, unless that begins something else.
  bool goes_on(std::string_view& rest) {
    const auto line = trim(left_.substr(0, left_.find('\n')));
    return !line.starts_with('[') && take_line(rest);
  }

  static std::optional<std::string> take_item(std::string_view& rest) {
    if (rest.front() == '"' || rest.front() == '\'')
      return take_quoted(rest);
    const auto word = rest.substr(0, rest.find_first_of(",]"));
    const auto bare = before_comment(word);
    if (bare.empty() || bare.find_first_of("[\"'") != bare.npos)
      return std::nullopt;
    // Behind a comment there may be anything: only what was read is taken.
    rest.remove_prefix(static_cast<std::size_t>(bare.end() - rest.begin()));
    return std::string{bare};
  }

  std::string_view left_;
  std::size_t line_ = 0;
  std::string group_ = "global";
  ini_file found_;
};

} // namespace

ini_file parse_ini(std::string_view text) {
  return parser{text}.run();
}

} // namespace troupe
