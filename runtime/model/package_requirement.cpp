#include "runtime/model/package_requirement.hpp"

#include "runtime/model/pep508_marker.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

// PyPI and npm both stay far below these.
constexpr std::size_t longest_text = 512;
constexpr std::size_t longest_pip_name = 128;
constexpr std::size_t longest_npm_name = 214; // npm's own rule
constexpr std::size_t most_parts = 32;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_alphanumeric(char c) {
  return is_digit(c) || is_letter(c);
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != set.npos;
}

/// What is left to read, with the steps all the grammars below share.
struct cursor {
  std::string_view rest;

  bool at_end() const { return rest.empty(); }
  char front() const { return rest.empty() ? '\0' : rest.front(); }
  void skip_blanks() {
    while (front() == ' ' || front() == '\t')
      rest.remove_prefix(1);
  }
  bool take(std::string_view word) {
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  template <class Predicate>
  std::string_view take_while(Predicate p) {
    auto n = static_cast<std::size_t>(
      std::find_if_not(rest.begin(), rest.end(), p) - rest.begin());
    auto front = rest.substr(0, n);
    rest.remove_prefix(n);
    return front;
  }
  std::string_view digits() { return take_while(is_digit); }
};

error refused(std::string_view text, std::string_view why,
              std::string_view hint) {
  std::string shown;
  for (char c : text.substr(0, 64))
    shown += c < ' ' || c > '~' ? '?' : c;
  return bad_field("", "'" + shown + "' " + std::string{why},
                   std::string{hint});
}

/// Why a text that is no requirement is none, in words that help.
std::string_view diagnose(std::string_view text) {
  if (text.size() > longest_text)
    return "is too long";
  if (std::any_of(text.begin(), text.end(),
                  [](unsigned char c) { return c < ' ' || c > '~'; }))
    return "has a control or non-ASCII character";
  if (text.starts_with('-'))
    return "looks like an option of the installer";
  if (text.find("://") != text.npos || text.find("git+") != text.npos)
    return "looks like a URL";
  if (text.starts_with('.') || text.starts_with('/')
      || text.starts_with("file:") || text.starts_with('~'))
    return "looks like a path";
  if (text.find(';') != text.npos)
    return "has an environment marker";
  return "is not a package requirement";
}

// -- Python ------------------------------------------------------------------

constexpr std::string_view pip_hint
  = "write a name, extras and versions, such as pandas[excel]>=2,<3";

bool is_name_char(char c) {
  return is_alphanumeric(c) || is_one_of(c, "._-");
}

/// PEP 508: letters and digits, with `.`, `_` and `-` between them.
bool is_pip_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_pip_name
    && is_alphanumeric(name.front()) && is_alphanumeric(name.back())
    && std::all_of(name.begin(), name.end(), is_name_char);
}

/// "a1", ".post2", "-rc.3" and so on, in any spelling PEP 440 accepts.
void skip_version_suffixes(cursor& in) {
  static constexpr std::array<std::string_view, 10> words{
    "alpha", "beta", "preview", "pre", "rc", "post", "rev", "dev", "a", "b"};
  for (;;) {
    auto before = in.rest;
    if (is_one_of(in.front(), ".-_") && !in.at_end())
      in.rest.remove_prefix(1);
    bool word = std::any_of(words.begin(), words.end(),
                            [&](auto w) { return in.take(w); })
      || in.take("c") || in.take("r");
    if (word && !in.at_end() && is_one_of(in.front(), ".-_")
        && in.rest.size() > 1 && is_digit(in.rest[1]))
      in.rest.remove_prefix(1);
    auto digits = in.digits();
    // A bare "-1" is a post release; a bare ".1" was read before.
    if (!word && (digits.empty() || !before.starts_with('-'))) {
      in.rest = before;
      return;
    }
  }
}

/// A version of PEP 440; `*` at its end where `wildcard` says so.
bool skip_version(cursor& in, bool wildcard) {
  in.take("v");
  if (in.digits().empty())
    return false;
  if (in.take("!") && in.digits().empty())
    return false;
  for (;;) {
    auto before = in.rest;
    if (!in.take("."))
      break;
    if (wildcard && in.take("*"))
      return true;
    if (in.digits().empty()) {
      in.rest = before;
      break;
    }
  }
  skip_version_suffixes(in);
  if (in.take("+"))
    return !in.take_while([](char c) {
                return is_alphanumeric(c) || is_one_of(c, "._-");
              })
              .empty();
  return true;
}

/// One `>=2.0`, appended to `out` without blanks.
bool read_clause(cursor& in, std::string& out) {
  in.skip_blanks();
  std::string_view op;
  for (std::string_view o : {"===", "~=", "==", "!=", "<=", ">=", "<", ">"})
    if (in.rest.starts_with(o)) {
      op = o;
      break;
    }
  if (op.empty())
    return false;
  in.take(op);
  in.skip_blanks();
  auto start = in.rest;
  if (!skip_version(in, op == "==" || op == "!="))
    return false;
  out += op;
  out += start.substr(0, start.size() - in.rest.size());
  return true;
}

bool read_specifier(cursor& in, std::string& out) {
  for (std::size_t n = 0; n < most_parts; ++n) {
    if (!read_clause(in, out))
      return false;
    in.skip_blanks();
    if (in.at_end())
      return true;
    if (!in.take(","))
      return false;
    out += ',';
  }
  return false;
}

bool read_extras(cursor& in, std::vector<std::string>& extras) {
  while (extras.size() < most_parts) {
    in.skip_blanks();
    auto name = in.take_while(is_name_char);
    if (!is_pip_name(name))
      return false;
    extras.emplace_back(name);
    in.skip_blanks();
    if (in.take("]"))
      return true;
    if (!in.take(","))
      return false;
  }
  return false;
}

// -- npm ---------------------------------------------------------------------

constexpr std::string_view npm_hint
  = "write a name and a version, such as left-pad@1.3.0 or @scope/pkg@^2";

bool is_npm_part(std::string_view part) {
  return !part.empty() && !is_one_of(part.front(), "._-")
    && std::all_of(part.begin(), part.end(), [](char c) {
         return is_alphanumeric(c) || is_one_of(c, "._-~");
       });
}

bool is_npm_name(std::string_view name) {
  if (name.size() > longest_npm_name)
    return false;
  if (name.starts_with('@')) {
    auto slash = name.find('/');
    if (slash == name.npos || !is_npm_part(name.substr(1, slash - 1)))
      return false;
    name.remove_prefix(slash + 1);
  }
  return is_npm_part(name) && name != "node_modules" && name != "favicon.ico";
}

/// "1", "1.2.x", "1.2.3-beta.1+build".
bool is_partial_version(std::string_view text) {
  cursor in{text};
  in.take("v");
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && !in.take("."))
      break;
    if (!in.take("x") && !in.take("X") && !in.take("*") && in.digits().empty())
      return false;
  }
  auto identifier
    = [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; };
  if (in.take("-") && in.take_while(identifier).empty())
    return false;
  if (in.take("+") && in.take_while(identifier).empty())
    return false;
  return in.at_end();
}

/// "latest", "next", "beta-2": what a registry may call a version.
bool is_dist_tag(std::string_view text) {
  return is_letter(text.front()) && !is_partial_version(text)
    && std::all_of(text.begin(), text.end(), is_name_char);
}

/// A range of npm's, with single blanks; "" when it is none.
std::string normalized_range(std::string_view text) {
  if (!text.empty() && is_dist_tag(text))
    return std::string{text};
  std::string out;
  cursor in{text};
  bool want_version = true;
  for (std::size_t n = 0; n < most_parts; ++n) {
    in.skip_blanks();
    if (in.at_end())
      return want_version ? std::string{} : out;
    if (!out.empty())
      out += ' ';
    if (!want_version && (in.take("||") || in.rest.starts_with("- "))) {
      out += in.take("- ") ? "-" : "||";
      want_version = true;
      continue;
    }
    for (std::string_view op : {">=", "<=", "^", "~", ">", "<", "="})
      if (in.take(op)) {
        out += op;
        in.skip_blanks();
        break;
      }
    auto version
      = in.take_while([](char c) { return c != ' ' && c != '\t' && c != '|'; });
    if (!is_partial_version(version))
      return {};
    out += version;
    want_version = false;
  }
  return {};
}

} // namespace

result<pip_requirement> parse_pip(std::string_view text) {
  pip_requirement r;
  cursor in{text.substr(0, longest_text + 1)};
  in.skip_blanks();
  auto name = in.take_while(is_name_char);
  r.name = name;
  in.skip_blanks();
  bool good = text.size() <= longest_text && is_pip_name(name);
  if (good && in.take("["))
    good = read_extras(in, r.extras);
  in.skip_blanks();
  if (good && !in.at_end())
    good = read_specifier(in, r.specifier);
  if (!good)
    return refused(text, diagnose(text), pip_hint);
  return r;
}

result<pip_requirement> parse_marked_pip(std::string_view text) {
  auto end = std::min(text.find(';'), text.size());
  auto r = parse_pip(text.substr(0, end));
  if (r && end < text.size()) {
    auto marker = parse_marker(text.substr(end + 1));
    if (!marker)
      return marker.error();
    r->marker = std::move(*marker);
  }
  return r;
}

result<npm_requirement> parse_npm(std::string_view text) {
  npm_requirement r;
  auto at = text.find('@', text.starts_with('@') ? 1 : 0);
  r.name = text.substr(0, std::min(at, longest_text));
  bool good = text.size() <= longest_text && is_npm_name(r.name);
  if (good && at != text.npos) {
    auto version = text.substr(at + 1);
    // Letta's text form has the quotes of a shell line inside.
    if (version.size() >= 2 && version.front() == '"' && version.back() == '"')
      version = version.substr(1, version.size() - 2);
    r.version = normalized_range(version);
    good = !r.version.empty();
  }
  if (!good)
    return refused(text, diagnose(text), npm_hint);
  return r;
}

std::string to_string(const pip_requirement& r) {
  auto text = r.name;
  for (std::size_t i = 0; i < r.extras.size(); ++i)
    text += (i == 0 ? "[" : ",") + r.extras[i];
  if (!r.extras.empty())
    text += ']';
  text += r.specifier;
  return r.marker.empty() ? text : text + "; " + r.marker;
}

std::string to_string(const npm_requirement& r) {
  return r.version.empty() ? r.name : r.name + "@" + r.version;
}

} // namespace troupe
