#include "runtime/json/reader.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/parts.hpp"
#include "runtime/model/codec/support.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// What a run is made of says of which kind it is.
struct kind_member {
  std::string_view name;
  run_kind kind;
};
constexpr kind_member kind_members[] = {
  {"tool_id", run_kind::tool},    {"tool_name", run_kind::tool},
  {"source", run_kind::source},   {"code", run_kind::code},
  {"command", run_kind::command}, {"argv", run_kind::command},
};
constexpr std::string_view all_kinds
  = "send one of tool_id, tool_name, source, code, command and argv";

/// Members that only make sense for one kind.
constexpr kind_member bound_members[] = {
  {"function", run_kind::source},
  {"json_schema", run_kind::source},
  {"args_json_schema", run_kind::source},
  {"stdin", run_kind::command},
};

/// Identifiers of Python and JavaScript; beyond ASCII the interpreter judges.
bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9')
    && std::all_of(text.begin(), text.end(), [](unsigned char c) {
         return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '$';
       });
}

void read_kind(json::reader& in, run_request& r) {
  std::vector<kind_member> present;
  for (auto& m : kind_members)
    if (in.has(m.name))
      present.push_back(m);
  if (present.empty())
    in.absorb(
      bad_field("", "does not name anything to run", std::string{all_kinds}));
  for (std::size_t i = 1; i < present.size(); ++i)
    in.complain(present[i].name,
                "excludes '" + std::string{present[0].name} + "'",
                std::string{all_kinds});
  if (present.empty())
    return;
  r.kind = present[0].kind;
  for (auto& m : bound_members)
    if (in.has(m.name) && m.kind != r.kind)
      in.complain(m.name,
                  "is not allowed for a " + std::string{to_string(r.kind)},
                  "only for a " + std::string{to_string(m.kind)});
}

void read_program(json::reader& in, run_request& r) {
  r.tool = codec::checked_id<tool_id>(in, "tool_id");
  r.tool_name = codec::plain_text(in, "tool_name", bounds::name_bytes);
  auto source = codec::plain_text(in, "source", bounds::source_bytes);
  auto code = codec::plain_text(in, "code", bounds::source_bytes);
  r.source = r.kind == run_kind::code ? std::move(code) : std::move(source);
  r.command = codec::plain_text(in, "command", bounds::command_bytes);
  r.argv = codec::read_argv(in);
  r.stdin_text = in.text("stdin", {.max = bounds::stdin_bytes}).value_or("");
  r.function = codec::plain_text(in, "function", bounds::name_bytes);
  r.json_schema = codec::object_text(in, "json_schema");
  r.args_json_schema = codec::object_text(in, "args_json_schema");
  r.lang = codec::read_language(in);
}

/// Names with nothing behind them, and words that contradict each other.
void check_program(json::reader& in, const json::object& body,
                   const run_request& r) {
  for (auto& m : kind_members) {
    auto* v = body.if_contains(m.name);
    if (v != nullptr
        && ((v->is_string() && v->get_string().empty())
            || (v->is_array() && v->get_array().empty())))
      in.complain(m.name, "must not be empty");
  }
  if (!r.argv.empty() && r.argv[0].empty())
    in.absorb(bad_field(json::child(in.pointer_to("argv"), 0u),
                        "does not name a program"));
  if (!r.function.empty() && !is_identifier(r.function))
    in.complain("function", "is not an identifier");
  bool is_code = r.kind == run_kind::source || r.kind == run_kind::code;
  if (is_code && r.lang == language::shell)
    in.complain("language", "a shell runs commands", "send it as 'command'");
}

} // namespace

result<run_request> parse_run_request(const json::object& body) {
  json::reader in{body};
  run_request r;
  read_kind(in, r);
  read_program(in, r);
  codec::read_common_parts(in, r);
  check_program(in, body, r);
  if (auto bad = in.finish())
    return *bad;
  return r;
}

// -- the cluster's wire ------------------------------------------------------

json::object to_wire(const run_request& r) {
  json::object o;
  auto put = [&](std::string_view name, const std::string& text) {
    if (!text.empty())
      o[name] = text;
  };
  o["kind"] = to_string(r.kind);
  put("id", r.id.str());
  put("organization_id", r.organization.str());
  put("user_id", r.user.str());
  put("tool_id", r.tool.str());
  put("tool_name", r.tool_name);
  o["language"] = to_string(r.lang);
  put("source", r.source);
  put("function", r.function);
  put("command", r.command);
  if (!r.argv.empty())
    o["argv"] = codec::texts(r.argv);
  put("stdin", r.stdin_text);
  // JSON stays text: nothing is lost, and nobody parses it on the way.
  put("args_json", r.args_json);
  put("json_schema_json", r.json_schema);
  put("args_json_schema_json", r.args_json_schema);
  if (r.lenient_arguments) // a node of before does not know the word
    o["lenient_arguments"] = true;
  put("agent_state_json", r.agent_state_json);
  put("idempotency_key", r.idempotency_key);
  put("traceparent", r.traceparent);
  codec::write_common_parts(o, r);
  return o;
}

namespace {

/// JSON inside of a text, checked without being built.
std::string checked_json(json::reader& in, std::string_view name) {
  auto text = in.text(name, {.max = json::parse_limits{}.bytes}).value_or("");
  if (!text.empty())
    if (auto ok = json::check(text); !ok)
      in.absorb(codec::moved_below(in.pointer_to(name), ok.error()));
  return text;
}

run_kind read_wire_kind(json::reader& in) {
  auto text = in.required_text("kind", {.max = 16});
  for (auto k :
       {run_kind::tool, run_kind::source, run_kind::code, run_kind::command})
    if (to_string(k) == text)
      return k;
  in.complain("kind", "is not a kind of run");
  return run_kind::tool;
}

} // namespace

result<run_request> from_wire(const json::object& body) {
  json::reader in{body};
  run_request r;
  r.kind = read_wire_kind(in);
  r.id = codec::checked_id<run_id>(in, "id");
  r.organization = codec::checked_id<organization_id>(in, "organization_id");
  r.user = codec::checked_id<user_id>(in, "user_id");
  r.tool = codec::checked_id<tool_id>(in, "tool_id");
  r.tool_name = codec::plain_text(in, "tool_name", bounds::name_bytes);
  r.lang = codec::read_language(in);
  r.source = codec::plain_text(in, "source", bounds::source_bytes);
  r.function = codec::plain_text(in, "function", bounds::name_bytes);
  r.command = codec::plain_text(in, "command", bounds::command_bytes);
  r.argv = codec::read_argv(in);
  r.stdin_text = in.text("stdin", {.max = bounds::stdin_bytes}).value_or("");
  codec::read_common_parts(in, r);
  if (auto args = checked_json(in, "args_json"); !args.empty())
    r.args_json = std::move(args);
  r.lenient_arguments = in.boolean("lenient_arguments").value_or(false);
  r.json_schema = checked_json(in, "json_schema_json");
  r.args_json_schema = checked_json(in, "args_json_schema_json");
  r.agent_state_json = checked_json(in, "agent_state_json");
  r.idempotency_key
    = codec::plain_text(in, "idempotency_key", bounds::idempotency_key_bytes);
  r.traceparent = codec::plain_text(in, "traceparent", bounds::name_bytes);
  if (auto bad = in.finish())
    return *bad;
  return r;
}

} // namespace troupe
