// The organization's own tools.
#include "net/mcp/stored_tools.hpp"

#include "net/mcp/tool_answer.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/members.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>
#include <set>

namespace troupe::net::mcp {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t shown_output = 2'000; // characters of what was printed
/// Parameters that engines fill in, and models must not.
constexpr std::string_view injected[] = {"agent_state", "request_heartbeat"};

/// What a tool's metadata says for here; null: nothing.
const json::object* metadata_of(const tool& t) {
  const auto* said = t.metadata.if_contains("mcp");
  return said && said->is_object() ? &said->get_object() : nullptr;
}

const json::object* hints_of(const tool& t) {
  const auto* wishes = metadata_of(t);
  const auto* hints = wishes ? wishes->if_contains("annotations") : nullptr;
  return hints && hints->is_object() ? &hints->get_object() : nullptr;
}

bool hint(const tool& t, std::string_view name, bool usual) {
  const auto* hints = hints_of(t);
  const auto* said = hints ? hints->if_contains(name) : nullptr;
  return said && said->is_bool() ? said->get_bool() : usual;
}

bool is_exposed(const tool& t) {
  const auto* wishes = metadata_of(t);
  const auto* said = wishes ? wishes->if_contains("expose") : nullptr;
  return !said || !said->is_bool() || said->get_bool();
}

/// One that clients and models take, and that no other tool has.
std::string free_name(std::string_view name, std::set<std::string>& taken) {
  std::string out;
  for (char c : name.substr(0, longest_name)) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
      || (c >= '0' && c <= '9') || c == '_' || c == '-';
    out += fine ? c : '_';
  }
  if (taken.contains(out) || toolkit::find_tool(out))
    out = ("tool_" + out).substr(0, longest_name);
  auto free = out;
  for (int i = 2; taken.contains(free); ++i) {
    const auto suffix = "_" + std::to_string(i);
    free = out.substr(0, longest_name - suffix.size()) + suffix;
  }
  taken.insert(free);
  return free;
}

json::object schema_of(const tool& t) {
  json::object schema;
  if (t.args_json_schema) {
    schema = *t.args_json_schema;
  } else if (t.json_schema) {
    const auto* parameters = t.json_schema->if_contains("parameters");
    if (parameters && parameters->is_object())
      schema = parameters->get_object();
  }
  if (json::text_or_empty(schema, "type") != "object")
    schema["type"] = "object";
  auto* properties = schema.if_contains("properties");
  if (!properties || !properties->is_object()) {
    schema["properties"] = json::object{};
    return schema;
  }
  for (auto name : injected)
    properties->get_object().erase(name);
  if (auto* required = schema.if_contains("required");
      required && required->is_array()) {
    json::array kept;
    for (auto& each : required->get_array())
      if (!each.is_string()
          || std::find(std::begin(injected), std::end(injected),
                       std::string_view{each.get_string()})
            == std::end(injected))
        kept.push_back(std::move(each));
    *required = std::move(kept);
  }
  return schema;
}

// -- what came of a run -------------------------------------------------------

std::string value_text(const run_result& r) {
  auto value = json::parse(r.value_json, {.bytes = r.value_json.size()});
  if (value && value->is_string())
    return std::string{value->get_string()};
  return r.value_json;
}

toolkit::outcome outcome_of(const run_result& r) {
  toolkit::outcome to;
  to.failed = r.status != run_status::success;
  if (!to.failed) {
    to.text = r.value_truncated
      ? "[the value has " + toolkit::with_commas(r.value_size)
        + " characters, more than this tool may return]"
      : value_text(r);
  } else {
    to.text = !r.failure.friendly.empty() ? r.failure.friendly
      : !r.detail.empty()
      ? r.detail
      : "The tool failed: " + std::string{to_string(r.reason)};
    if (!r.failure.traceback.empty())
      to.text += "\n" + toolkit::cut_middle(r.failure.traceback, shown_output);
  }
  if (const auto printed = toolkit::plain_text(r.stdout_text); !printed.empty())
    to.text += "\n[stdout]\n" + toolkit::cut_middle(printed, shown_output);
  return to;
}

/// Why it was not run at all, for a model.
toolkit::outcome outcome_of(const error& why) {
  auto text = why.text;
  for (const auto& each : why.fields)
    text += "\n" + each.pointer + ": " + each.reason
      + (each.hint.empty() ? std::string{} : " (" + each.hint + ")");
  if (why.code == ec::exhausted || why.code == ec::unavailable)
    text += "\nBusy: try again in a few seconds.";
  return toolkit::refusal(std::move(text));
}

std::string agent_of(const request_call& call) {
  std::string agent;
  if (const auto* said = call.message().meta("dev.troupe/agent");
      said && said->is_string())
    agent = std::string{said->get_string()};
  else
    agent = std::string{call.http().in().field("troupe-agent")};
  return agent.substr(0, bounds::foreign_id_bytes);
}

} // namespace

std::vector<stored_tool> stored_tools(const service& home, const caller& who,
                                      const list_wish& wish) {
  std::vector<stored_tool> all;
  const auto current = home.core.snapshot();
  const auto* mine = current ? current->find(who.organization) : nullptr;
  if (!mine)
    return all;
  std::set<std::string> taken;
  for (const auto& [name, id] : mine->tools_by_name) {
    const auto found = mine->tools.find(id);
    if (found == mine->tools.end() || !is_exposed(*found->second))
      continue;
    auto shown = free_name(name, taken);
    if (wish.shows_stored(shown, hint(*found->second, "readOnlyHint", false)))
      all.push_back({std::move(shown), found->second});
  }
  return all;
}

std::string stored_tool_json(const stored_tool& of) {
  const auto& t = *of.what;
  const auto* wishes = metadata_of(t);
  const auto title
    = wishes ? json::text_or_empty(*wishes, "title") : std::string{};
  json::object_writer hints;
  if (!title.empty())
    hints.text("title", title);
  hints.boolean("readOnlyHint", hint(t, "readOnlyHint", false))
    .boolean(
      "destructiveHint",
      hint(t, "destructiveHint", t.default_requires_approval.value_or(false)))
    .boolean("idempotentHint", hint(t, "idempotentHint", false))
    .boolean("openWorldHint", hint(t, "openWorldHint", true));
  json::object_writer about;
  about.text("dev.troupe/tool", t.id.str())
    .number("dev.troupe/revision", t.revision);
  json::object_writer out;
  out.text("name", of.name);
  if (!title.empty())
    out.text("title", title);
  out.text("description", t.description)
    .raw("inputSchema", json::to_text(schema_of(t)))
    .raw("annotations", hints.finish())
    .raw("_meta", about.finish());
  return out.finish();
}

void call_stored_tool(request_call& call, const stored_tool& which,
                      const json::object& arguments) {
  run_request run;
  run.id = run_id::make();
  run.organization = call.who().organization;
  run.user = call.who().user;
  run.kind = run_kind::tool;
  run.tool = which.what->id;
  run.args_json = json::exact_text(arguments);
  run.agent_id = agent_of(call);
  if (auto parent = call.http().in().field("traceparent");
      parse_traceparent(parent))
    run.traceparent = std::string{parent};
  auto self = call.shared_from_this();
  call.on_cancel([self, id = run.id] {
    self->home().core.cancel(self->who(), id, [](result<run_record>) {});
  });
  auto place = take_place(call);
  if (!place)
    return;
  call.home().core.submit(
    call.who(), std::move(run),
    [self, place](result<std::shared_ptr<const run_result>> done) {
      answer_outcome(*self,
                     done ? outcome_of(**done) : outcome_of(done.error()));
    });
}

} // namespace troupe::net::mcp
