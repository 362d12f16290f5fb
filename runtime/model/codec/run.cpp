#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/files.hpp"
#include "runtime/model/codec/parts.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

/// A snippet: its text is a run's source, and has no row of its own.
constexpr std::string_view snippet = "code";
constexpr field_rule snippet_rule{.longest = bounds::source_bytes};
constexpr std::string_view all_kinds
  = "send one of tool_id, tool_name, source, code, command and argv";

/// What a run is made of says of which kind it is.
template <class Each>
void for_each_program(Each each) {
  for_each_row(run_fields, [&](const auto& f) {
    if (f.rule.is_program)
      each(f.name, *f.rule.only);
  });
  each(snippet, run_kind::code);
}

/// Identifiers of Python and JavaScript; beyond ASCII the interpreter judges.
bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9')
    && std::all_of(text.begin(), text.end(), [](unsigned char c) {
         return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '$';
       });
}

void read_kind(json::reader& in, run_request& r) {
  std::string_view first;
  for_each_program([&](std::string_view name, run_kind kind) {
    if (!in.has(name))
      return;
    if (!first.empty()) {
      in.complain(name, "excludes '" + std::string{first} + "'",
                  std::string{all_kinds});
      return;
    }
    first = name;
    r.kind = kind;
  });
  if (first.empty()) {
    in.absorb(
      bad_field("", "does not name anything to run", std::string{all_kinds}));
    return;
  }
  for_each_row(run_fields, [&](const auto& f) {
    if (f.rule.only && !f.rule.is_program && *f.rule.only != r.kind
        && in.has(f.name))
      in.complain(f.name,
                  "is not allowed for a " + std::string{to_string(r.kind)},
                  "only for a " + std::string{to_string(*f.rule.only)});
  });
}

/// Names with nothing behind them, and words that contradict each other.
void check_program(json::reader& in, const json::object& body,
                   const run_request& r) {
  for_each_program([&](std::string_view name, run_kind) {
    auto* v = body.if_contains(name);
    if (v != nullptr
        && ((v->is_string() && v->get_string().empty())
            || (v->is_array() && v->get_array().empty())))
      in.complain(name, "must not be empty");
  });
  if (!r.argv.empty() && r.argv[0].empty())
    in.absorb(bad_field(json::child(in.pointer_to("argv"), 0u),
                        "does not name a program"));
  if (!r.function.empty() && !is_identifier(r.function))
    in.complain("function", "is not an identifier");
  bool is_code = r.kind == run_kind::source || r.kind == run_kind::code;
  if (is_code && r.lang == language::shell)
    in.complain("language", "a shell runs commands", "send it as 'command'");
}

/// As other engines and Letta call these.
constexpr json::reader::alias run_aliases[]{
  {"timeout", "limits.wall_seconds"},
  {"timeout_seconds", "limits.wall_seconds"},
  {"timeout_ms", "limits.wall_seconds"},
  {"memory", "limits.memory_bytes"},
  {"memory_mb", "limits.memory_bytes"},
  {"cpu", "limits.cpu_seconds"},
  {"custom_id", "labels"},
  {"metadata", "labels"},
  {"arguments", "args"},
  {"parameters", "args"},
  {"input", "args, or stdin for a command"},
  {"envs", "env"},
  {"env_vars", "env"},
  {"environment", "env"},
  {"tool", "tool_name"},
  {"name", "tool_name, or function with a source"},
  {"cmd", "command"},
  {"tool_args", "args"},
  {"script", "code"},
  {"source_code", "source"},
  {"source_type", "language"},
  {"requirements", "pip_requirements"},
  {"packages", "pip_requirements or npm_requirements"},
  {"dependencies", "pip_requirements or npm_requirements"},
  {"pip", "pip_requirements"},
  {"npm", "npm_requirements"},
  {"stream", "the header Accept: text/event-stream"},
  {"background", "the header Prefer: respond-async"},
  {"async", "the header Prefer: respond-async"},
};
/// What stands only in a call.
bool asks_for_call(const json::object& body) {
  return std::ranges::any_of(
    std::array<std::string_view, 5>{"function", "args", "json_schema",
                                    "args_json_schema", "agent_state"},
    [&](auto name) { return body.contains(name); });
}

} // namespace

result<run_request> parse_run_request(const json::object& body) {
  json::reader in{body};
  in.knows_elsewhere(run_aliases);
  run_request r;
  read_kind(in, r);
  for_each_row(run_fields, [&](const auto& f) {
    if (f.rule.in_body)
      codec::read({in, f.name, f.rule}, f.of(r));
  });
  codec::read({in, snippet, snippet_rule}, r.source);
  r.may_be_script = r.kind == run_kind::source && !asks_for_call(body);
  check_program(in, body, r);
  if (auto bad = in.finish())
    return *bad;
  return r;
}

// -- the cluster's wire ------------------------------------------------------

namespace {

// A field as JSON, by its type.
json::value as_json(const std::string& text) {
  return json::value(text);
}
json::value as_json(const std::vector<std::string>& list) {
  return codec::texts(list);
}
json::value as_json(const std::vector<run_file>& files) {
  return codec::files_by_name(files);
}
json::value as_json(const environment& env) {
  json::object o;
  for (auto& [name, value] : env)
    o[name] = value.reveal(); // see to_wire
  return o;
}
json::value as_json(const std::map<std::string, std::string>& labels) {
  json::object o;
  for (auto& [name, value] : labels)
    o[name] = value;
  return o;
}
json::value as_json(std::chrono::milliseconds t) {
  return static_cast<double>(t.count()) / 1e3;
}
template <class T>
json::value as_json(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value;
  else if constexpr (requires { value.str(); })
    return json::value(value.str());
  else if constexpr (requires { value.has_value(); })
    return as_json(*value);
  else if constexpr (requires { to_json(value); })
    return to_json(value);
  else
    return json::value(to_string(value));
}

/// What says nothing is left out: a node of an older version does not know the
/// name of a field that came later.
template <class T>
bool says_something(const T& value) {
  return value != T{};
}
bool says_something(run_kind) {
  return true;
}
bool says_something(language) {
  return true;
}

template <class Field>
std::string_view name_on_link(const Field& f) {
  return f.rule.on_link.empty() ? f.name : f.rule.on_link;
}

/// JSON inside of a text, checked without being built.
void read_json_text(const codec::field_place& at, std::string& into) {
  auto text = at.in.text(at.name, {.max = json::parse_limits{}.bytes});
  if (!text || text->empty())
    return;
  if (auto ok = json::check(*text); !ok)
    at.in.absorb(codec::moved_below(at.in.pointer_to(at.name), ok.error()));
  into = std::move(*text);
}

} // namespace

json::object to_wire(const run_request& r) {
  json::object o;
  for_each_row(run_fields, [&](const auto& f) {
    if (const auto& value = f.of(r); says_something(value))
      o[name_on_link(f)] = as_json(value);
  });
  return o;
}

result<run_request> from_wire(const json::object& body) {
  json::reader in{body};
  run_request r;
  for_each_row(run_fields, [&](const auto& f) {
    auto& into = f.of(r);
    const codec::field_place at{in, name_on_link(f), f.rule};
    if constexpr (std::is_same_v<decltype(into), std::string&>)
      if (!f.rule.on_link.empty())
        return read_json_text(at, into);
    codec::read(at, into);
  });
  if (auto bad = in.finish())
    return *bad;
  return r;
}

// -- for clients and for the record -------------------------------------------

namespace {

json::value as_shown(const field_rule& rule, const std::string& text) {
  if (rule.on_link.empty())
    return json::value(text);
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : json::value(text);
}
json::value as_shown(const field_rule&, const environment& env) {
  json::object o;
  for (const auto& [name, value] : env)
    o[name] = to_string(value);
  return o;
}
template <class T>
json::value as_shown(const field_rule&, const T& value) {
  return as_json(value);
}

std::size_t bytes_in(const std::string& text) {
  return text.size();
}
std::size_t bytes_in(const secret& text) {
  return text.size();
}
template <class T>
std::size_t bytes_in(const T& value) {
  std::size_t sum = 0;
  if constexpr (requires { value.begin()->second; })
    for (const auto& [name, text] : value)
      sum += name.size() + bytes_in(text);
  else if constexpr (requires { value.begin()->size(); })
    for (const auto& text : value)
      sum += bytes_in(text);
  return sum;
}

} // namespace

json::object to_json(const run_request& r) {
  json::object o;
  for_each_row(run_fields, [&](const auto& f) {
    const auto& value = f.of(r);
    if (f.rule.in_body && says_something(value)
        && !(f.rule.only && *f.rule.only != r.kind))
      o[f.name] = as_shown(f.rule, value);
  });
  if (r.kind == run_kind::code)
    o[snippet] = r.source;
  return o;
}

std::size_t bytes_of(const run_request& r) {
  std::size_t sum = sizeof r;
  for_each_row(run_fields, [&](const auto& f) { sum += bytes_in(f.of(r)); });
  return sum;
}

} // namespace troupe
