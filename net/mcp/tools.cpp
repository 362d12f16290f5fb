// tools/list and tools/call.
#include "net/mcp/list_wish.hpp"
#include "net/mcp/methods.hpp"
#include "net/mcp/stored_tools.hpp"
#include "net/mcp/tool_answer.hpp"
#include "net/mcp/tool_list.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::net::mcp {

namespace {

constexpr std::size_t page_size = 100;
constexpr std::size_t small_answer = 64u << 10;

/// The entry of one of our tools.
std::string tool_json(const toolkit::listed_tool& of, bool with_session,
                      bool with_data) {
  const auto& e = of.entry;
  auto schema = of.schema;
  if (!with_session)
    schema.at("properties").get_object().erase("session_id");
  json::object_writer hints;
  hints.text("title", e.title)
    .boolean("readOnlyHint", e.hint('R'))
    .boolean("destructiveHint", e.hint('D'))
    .boolean("idempotentHint", e.hint('I'))
    .boolean("openWorldHint", e.hint('O'));
  json::object_writer out;
  out.text("name", e.name);
  if (with_data)
    out.text("title", e.title);
  out.text("description", e.description)
    .raw("inputSchema", json::to_text(schema));
  if (with_data && !e.output.empty())
    out.raw("outputSchema", e.output);
  out.raw("annotations", hints.finish());
  return out.finish();
}

const json::object& arguments_of(const rpc_message& message) {
  static const json::object none;
  const auto* said = message.params.if_contains("arguments");
  return said && said->is_object() ? said->get_object() : none;
}

void fail_unknown(request_call& call, std::string_view name,
                  const std::vector<stored_tool>& stored) {
  auto known = toolkit::tool_names();
  for (const auto& each : stored)
    known.push_back(each.name);
  auto text = "Unknown tool: " + toolkit::plain_text(name.substr(0, 100));
  if (const auto near = json::nearest(name, known); !near.empty())
    text += ". Did you mean " + near + "?";
  call.fail({200, codes::invalid_params, std::move(text)});
}

void call_toolkit(request_call& call, const toolkit::listed_tool& tool) {
  auto where = session_for(call);
  if (!where)
    return;
  auto place = take_place(call);
  if (!place)
    return;
  auto self = call.shared_from_this();
  toolkit::call_hooks hooks;
  hooks.after = [ex = call.shared_http()](auto time, auto then) {
    ex->after(time, std::move(then));
  };
  if (call.wants_progress())
    hooks.progress
      = [self](std::string line) { self->progress(std::move(line)); };
  // The place that a program ends at serves others: a large answer is written
  // on the connection's own thread.
  auto done = [self, place](toolkit::outcome what) {
    if (what.text.size() + what.data.size() <= small_answer
        && what.pictures.empty())
      return answer_outcome(*self, what);
    self->http().after(
      std::chrono::milliseconds{0},
      [self, what = std::move(what)] { answer_outcome(*self, what); });
  };
  const auto begun = call.home().tools.call(
    call.who(), tool, arguments_of(call.message()), std::move(*where),
    std::move(hooks), std::move(done));
  if (begun)
    call.on_cancel([begun] { begun->cancel(); });
}

} // namespace

std::vector<std::string> tool_list(const service& home, const caller& who,
                                   const list_wish& wish, bool with_data) {
  std::vector<std::string> all;
  for (const auto& each : toolkit::catalogue())
    if (wish.shows(each.entry))
      all.push_back(tool_json(each, !wish.session_in_url, with_data));
  for (const auto& each : stored_tools(home, who, wish))
    all.push_back(stored_tool_json(each));
  return all;
}

void list_tools(request_call& call) {
  std::size_t from = 0;
  if (const auto* cursor = call.message().params.if_contains("cursor");
      cursor && !cursor->is_null()) {
    const auto place = cursor->is_string()
      ? call.home().place_of(call.who(), cursor->get_string())
      : std::nullopt;
    if (!place)
      return call.fail({200, codes::invalid_params, "Unknown cursor"});
    from = *place;
  }
  const auto all
    = tool_list(call.home(), call.who(), list_wish::of(call.http().in()),
                call.knows_data());
  const auto end = std::min(all.size(), from + page_size);
  std::string members{"\"tools\":["};
  for (auto i = from; i < end; ++i)
    members.append(i == from ? "" : ",").append(all[i]);
  members += "]";
  if (end < all.size())
    members
      += ",\"nextCursor\":\"" + call.home().cursor_for(call.who(), end) + "\"";
  call.answer(std::move(members), cached::for_a_minute);
}

void call_tool(request_call& call) {
  const auto name = call.message().text("name");
  if (!name)
    return call.fail({200, codes::invalid_params, "params.name is missing"});
  if (const auto* said = call.message().params.if_contains("arguments");
      said && !said->is_object() && !said->is_null())
    return call.fail(
      {200, codes::invalid_params, "params.arguments must be an object"});
  const auto wish = list_wish::of(call.http().in());
  const auto stored = stored_tools(call.home(), call.who(), wish);
  const auto own = std::find_if(
    stored.begin(), stored.end(),
    [name](const stored_tool& each) { return each.name == *name; });
  if (own != stored.end())
    return call_stored_tool(call, *own, arguments_of(call.message()));
  const auto* tool = toolkit::find_tool(*name);
  if (!tool || !wish.shows(tool->entry))
    return fail_unknown(call, *name, stored);
  call_toolkit(call, *tool);
}

void answer_outcome(request_call& call, const toolkit::outcome& what) {
  std::string members{R"("content":[{"type":"text","text":)"};
  members.reserve(what.text.size() + what.data.size() + 200);
  json::append_string(members, what.text);
  members += "}";
  for (const auto& each : what.pictures) {
    members += R"(,{"type":"image","data":)";
    json::append_string(members, each.base64);
    members += ",\"mimeType\":";
    json::append_string(members, each.mime);
    members += "}";
  }
  members += "]";
  if (what.failed)
    members += R"(,"isError":true)";
  else if (!what.data.empty() && call.knows_data())
    members += ",\"structuredContent\":" + what.data;
  call.answer(std::move(members));
}

std::shared_ptr<void> take_place(request_call& call) {
  auto place = call.home().calls.enter(
    call.who(), call.home().options.calls_at_once, ~std::size_t{0});
  if (!place)
    answer_outcome(
      call,
      toolkit::refusal("Busy: as many calls of this key are under way as there "
                       "may be. Try again in 2 s."));
  return place;
}

} // namespace troupe::net::mcp
