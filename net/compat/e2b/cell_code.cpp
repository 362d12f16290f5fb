#include "net/compat/e2b/cell_code.hpp"

#include "runtime/base/base64.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t most_variables = 256;
constexpr std::string_view blank = " \t";

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front())
    && std::ranges::all_of(
      text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string quoted(std::string_view base64) {
  return "'" + std::string{base64} + "'";
}

variable_cells for_python(const std::string& data) {
  // In a function of its own: nothing of it is left in the cell's names.
  constexpr std::string_view set
    = "def __e2b_set(text):\n"
      " import base64, builtins, json, os\n"
      " wanted = json.loads(base64.b64decode(text))\n"
      " builtins.__e2b_before = {k: os.environ.get(k) for k in wanted}\n"
      " os.environ.update(wanted)\n"
      "__e2b_set(";
  constexpr std::string_view restore
    = "def __e2b_restore():\n"
      " import builtins, os\n"
      " for k, v in builtins.__dict__.pop('__e2b_before', {}).items():\n"
      "  os.environ.pop(k, None) if v is None else "
      "os.environ.__setitem__(k, v)\n"
      "__e2b_restore()\n"
      "del __e2b_restore\n";
  return {std::string{set} + quoted(data) + ")\ndel __e2b_set\n",
          std::string{restore}};
}

variable_cells for_node(const std::string& data) {
  constexpr std::string_view set
    = "(text => { const wanted = JSON.parse(Buffer.from(text, 'base64')"
      ".toString()); globalThis.__e2b_before = Object.keys(wanted).map("
      "k => [k, process.env[k]]); Object.assign(process.env, wanted) })(";
  constexpr std::string_view restore
    = "(() => { for (const [k, v] of globalThis.__e2b_before || []) "
      "{ if (v === undefined) delete process.env[k]; else process.env[k] = v } "
      "delete globalThis.__e2b_before })()";
  return {std::string{set} + quoted(data) + ")", std::string{restore}};
}

/// Every byte by its number.
std::string bash_bytes(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x");
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out += "'";
}

variable_cells for_bash(const json::object& variables) {
  variable_cells out;
  for (const auto& [key, value] : variables) {
    const std::string name{key};
    const auto kept = "__e2b_before_" + name;
    out.before += "[ -n \"${" + name + "+x}\" ] && " + kept + "=\"$" + name
      + "\"; export " + name + "="
      + bash_bytes(std::string_view{value.get_string()}) + "\n";
    out.after += "if [ -n \"${" + kept + "+x}\" ]; then " + name + "=\"$" + kept
      + "\"; unset " + kept + "; else unset " + name + "; fi\n";
  }
  return out;
}

} // namespace

std::string dedented(std::string_view code) {
  std::string_view indent;
  for (auto rest = code; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    const auto first = line.find_first_not_of(blank);
    if (first != line.npos && line[first] != '\r') {
      indent = line.substr(0, first);
      break;
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  if (indent.empty())
    return std::string{code};
  std::string out;
  out.reserve(code.size());
  for (auto rest = code; !rest.empty();) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size());
    if (line.starts_with(indent))
      line.remove_prefix(indent.size());
    out.append(line);
    if (!rest.empty()) {
      out += '\n';
      rest.remove_prefix(1);
    }
  }
  return out;
}

result<variable_cells> cells_around(context_language language,
                                    const json::object& variables) {
  if (variables.size() > most_variables)
    return bad_request("env_vars has more than 256 variables");
  for (const auto& [name, value] : variables) {
    if (!is_name(name))
      return bad_request("env_vars has a name that is none of a variable");
    if (!value.is_string()
        || std::string_view{value.get_string()}.find('\0')
          != std::string_view::npos)
      return bad_request("env_vars must be texts");
  }
  if (language == context_language::bash)
    return for_bash(variables);
  const auto data = frame::to_base64(json::to_text(variables));
  return language == context_language::python ? for_python(data)
                                              : for_node(data);
}

} // namespace troupe::net::e2b_facade
