// What is asked for inside of a sandbox: processes, contexts, cells.
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/parts.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>

namespace troupe {

namespace codec {

namespace {

bool is_sandbox_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
      || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

} // namespace

std::string read_sandbox_name(json::reader& in, std::string_view name) {
  auto text
    = in.text(name, {.min = 1, .max = bounds::sandbox_name_bytes}).value_or("");
  if (!is_sandbox_name(text))
    in.complain(name, "has a character that no name has",
                "use letters, digits, '-', '_' and '.'");
  return text;
}

void read_sandbox_duration(json::reader& in, std::string_view name,
                           std::optional<std::chrono::milliseconds>& into) {
  const auto* v = in.member(name);
  if (v && !v->is_null())
    into = codec::value_or_complain(in, name, parse_duration(*v, ""));
}

/// The engine allows a run more variables than a sandbox, which keeps them.
void read_sandbox_variables(json::reader& in, environment& into) {
  static constexpr field_rule rule;
  codec::read({in, "env", rule}, into);
  std::size_t total = 0;
  for (const auto& [name, value] : into)
    total += name.size() + value.size();
  if (into.size() > bounds::sandbox_variables
      || total > bounds::sandbox_variable_bytes)
    in.complain("env", "is more than 256 variables or 128 KiB",
                "write what is larger into a file of the sandbox");
}

} // namespace codec

namespace {

constexpr std::size_t longest_cwd = 4'096;
constexpr std::int64_t largest_terminal = 10'000; // either way

/// Absolute, or "" for the one that the sandbox begins with.
std::string read_cwd(json::reader& in) {
  auto text = in.text("cwd", {.min = 1, .max = longest_cwd}).value_or("");
  if (!text.empty() && text.front() != '/')
    in.complain("cwd", "is relative", "begin with /");
  if (text.find('\0') != text.npos)
    in.complain("cwd", "holds a NUL character, which no path may",
                "leave it out");
  return text;
}

context_language read_context_language(json::reader& in) {
  const auto text = in.text("language", {.max = 32});
  if (!in.has("language"))
    in.complain("language", "is missing",
                "python, javascript, typescript or bash");
  if (!text)
    return context_language::python;
  return codec::value_or_complain(in, "language",
                                  parse_context_language(*text));
}

void read_process_program(json::reader& in, process_spec& p) {
  constexpr std::string_view ways
    = "send argv, a list of texts, or command, a line for the shell";
  p.argv
    = codec::read_texts(in, "argv", bounds::argv_items, bounds::command_bytes);
  p.command = in.text("command", {.max = bounds::command_bytes}).value_or("");
  if (in.has("argv") && in.has("command"))
    in.complain("command", "excludes 'argv'", std::string{ways});
  else if (!in.has("argv") && !in.has("command"))
    in.absorb(bad_field("", "does not say what to run", std::string{ways}));
  else if (in.has("command") && p.command.empty())
    in.complain("command", "must not be empty", std::string{ways});
  else if (in.has("argv") && (p.argv.empty() || p.argv.front().empty()))
    in.complain("argv", "names no program", std::string{ways});
  const auto has_nul
    = [](const std::string& text) { return text.find('\0') != text.npos; };
  if (has_nul(p.command) || std::ranges::any_of(p.argv, has_nul))
    in.complain(p.argv.empty() ? "command" : "argv", "has a NUL character",
                "remove it");
}

} // namespace

result<terminal_size> parse_terminal_size(const json::object& body,
                                          std::string pointer) {
  json::reader in{body, std::move(pointer)};
  terminal_size size;
  const auto read = [&in](std::string_view name, std::uint16_t& into) {
    if (auto n = in.integer(name, 1, largest_terminal))
      into = static_cast<std::uint16_t>(*n);
  };
  read("cols", size.columns);
  read("rows", size.rows);
  if (auto bad = in.finish())
    return *bad;
  return size;
}

result<process_spec> parse_process_spec(const json::object& body) {
  json::reader in{body};
  process_spec p;
  read_process_program(in, p);
  if (const auto* size = in.member_object("terminal")) {
    if (auto parsed = parse_terminal_size(*size, in.pointer_to("terminal")))
      p.terminal = *parsed;
    else
      in.absorb(parsed.error());
  }
  p.cwd = read_cwd(in);
  codec::read_sandbox_variables(in, p.env);
  p.input = in.text("stdin", {.max = bounds::process_input_bytes}).value_or("");
  p.open_input = in.boolean("open_stdin").value_or(false);
  std::optional<std::chrono::milliseconds> timeout;
  codec::read_sandbox_duration(in, "timeout", timeout);
  p.timeout = timeout.value_or(std::chrono::milliseconds{0});
  p.tag = in.text("tag", {.max = bounds::process_tag_bytes}).value_or("");
  if (auto bad = in.finish())
    return *bad;
  return p;
}

result<context_spec> parse_context_spec(const json::object& body) {
  json::reader in{body};
  context_spec c;
  c.language = read_context_language(in);
  c.name = codec::read_sandbox_name(in, "name");
  c.cwd = read_cwd(in);
  codec::read_sandbox_variables(in, c.env);
  c.auto_restart = in.boolean("auto_restart").value_or(false);
  if (auto bad = in.finish())
    return *bad;
  return c;
}

result<cell_spec> parse_cell_spec(const json::object& body,
                                  context_language* language) {
  json::reader in{body};
  cell_spec c;
  if (language)
    *language = read_context_language(in);
  c.code = in.text("code", {.max = bounds::cell_code_bytes}).value_or("");
  if (!in.has("code"))
    in.complain("code", "is missing", "the text that is to be run");
  if (c.code.find('\0') != c.code.npos)
    in.complain("code", "has a NUL character", "remove it");
  std::optional<std::chrono::milliseconds> timeout;
  codec::read_sandbox_duration(in, "timeout", timeout);
  c.timeout = timeout.value_or(std::chrono::milliseconds{0});
  if (auto bad = in.finish())
    return *bad;
  return c;
}

} // namespace troupe
