#include "net/compat/letta/letta_json.hpp"

#include "net/compat/letta/python_repr.hpp"
#include "net/http/problem.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"
#include "runtime/model/value_notes.hpp"

#include <algorithm>
#include <ctime>

namespace troupe::net::letta {

namespace {

constexpr std::string_view mask = "********";

std::string optional_object(const std::optional<json::object>& o) {
  return o ? json::to_text(*o) : std::string{"null"};
}

std::string name_and_version(std::string_view name, std::string_view version) {
  json::object_writer out;
  out.text("name", name).text_or_null("version", version);
  return out.finish();
}

/// Letta knows a name and one exact version, which it writes bare; anything
/// richer keeps its operators. Either is taken again as it is.
std::string requirement(const pip_requirement& r) {
  auto name = to_string(pip_requirement{r.name, r.extras, {}});
  std::string_view version = r.specifier;
  if (version.starts_with("==") && !version.starts_with("===")
      && version.find(',') == version.npos)
    version.remove_prefix(2);
  return name_and_version(name, version);
}

/// What Letta keeps there for every tool: the hash of what it runs.
std::string metadata_of(const tool& t) {
  auto all = t.metadata;
  all["tool_hash"] = tool_hash(t);
  return json::to_text(all);
}

template <class List, class Render>
std::string list_or_null(const List& list, Render render) {
  return list.empty() ? std::string{"null"} : json::array_of(list, render);
}

json::writer& authors(json::writer& out, std::string_view created,
                      std::string_view updated) {
  return out.text_or_null("created_by_id", created)
    .text_or_null("last_updated_by_id", updated);
}

std::string lines(std::string_view text) {
  if (text.empty())
    return "[]";
  std::string out{"["};
  json::append_string(out, text);
  return out += ']';
}

/// A value that cannot be opened is masked, too.
template <class Open, class Sealed>
secret shown_value(const Open& open, const Sealed& sealed) {
  secret masked{std::string{mask}};
  if (!open)
    return masked;
  auto value = open(sealed);
  return value ? std::move(*value) : masked;
}

bool good(const run_result& r) {
  return r.status == run_status::success;
}

/// What a model sees of a failed run.
std::string friendly(const run_result& r) {
  constexpr std::size_t most = 1'000; // characters, as the clients expect
  auto text = !r.failure.friendly.empty() ? r.failure.friendly : r.detail;
  if (text.size() <= most)
    return text;
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size() && count < most; ++count) {
    ++end;
    while (end < text.size()
           && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      ++end;
  }
  return text.substr(0, end);
}

std::string utc_seconds() {
  auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  auto n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  return {text, n};
}

/// The output as the clients print it: what the tool wrote, then its traces.
std::string errors_of(const run_result& r) {
  auto text = r.stderr_text;
  if (text.empty())
    text = r.failure.traceback;
  return lines(text);
}

} // namespace

std::string text_of(const tool& t) {
  auto npm = [](const npm_requirement& r) {
    return name_and_version(r.name, r.version);
  };
  json::object_writer out;
  out.text("id", t.id.str())
    .text("tool_type", t.tool_type)
    .text_or_null("description", t.description)
    .text("source_type", to_string(t.source_type))
    .text("name", t.name)
    .list("tags", t.tags, [&](const auto& tag) { out.text(tag); })
    .text_or_null("source_code", t.source_code)
    .raw("json_schema", optional_object(t.json_schema))
    .raw("args_json_schema", optional_object(t.args_json_schema))
    .number("return_char_limit", t.return_char_limit)
    .raw("pip_requirements", list_or_null(t.pip_requirements, requirement))
    .raw("npm_requirements", list_or_null(t.npm_requirements, npm))
    .raw("default_requires_approval",
         !t.default_requires_approval     ? "null"
           : *t.default_requires_approval ? "true"
                                          : "false")
    .boolean("enable_parallel_execution", t.enable_parallel_execution)
    .raw("metadata_", metadata_of(t))
    .text_or_null("project_id", t.project_id);
  authors(out, t.created_by, t.updated_by);
  return out.finish();
}

std::string text_of(const sandbox_config& c) {
  json::object_writer out;
  authors(out, c.created_by, c.updated_by)
    .text("created_at", to_text(c.created_at))
    .text("updated_at", to_text(c.updated_at))
    .text("id", c.id.str())
    .text("type", to_string(c.type))
    .text("organization_id", c.organization.str())
    .raw("config", json::to_text(c.config));
  return out.finish();
}

std::string text_of(const sealed_variable& sealed,
                    const letta_options& options) {
  const auto& v = sealed.about;
  json::object_writer out;
  authors(out, v.created_by, v.updated_by)
    .text("created_at", to_text(v.created_at))
    .text("updated_at", to_text(v.updated_at))
    .text("id", v.id.str())
    .text("key", v.key)
    .text("value", shown_value(options.reveal, sealed).reveal())
    .text_or_null("description", v.description)
    .text("organization_id", v.organization.str())
    .raw("value_enc", "null")
    .text("sandbox_config_id", v.config.str());
  return out.finish();
}

std::string text_of(const sealed_agent_variable& sealed,
                    const letta_options& options) {
  const auto& v = sealed.about;
  json::object_writer out;
  out.text("created_at", to_text(v.created_at))
    .text("updated_at", to_text(v.updated_at))
    .text("id", v.id.str())
    .text("key", v.key)
    .text("value", shown_value(options.reveal_agent, sealed).reveal())
    .text_or_null("description", v.description)
    .text("organization_id", v.organization.str())
    .raw("value_enc", "null")
    .text("agent_id", v.agent_id);
  return out.finish();
}

std::string return_message(const run_result& r, std::string_view name) {
  auto odd = std::ranges::find(r.notes, odd_numbers_note) != r.notes.end();
  auto value
    = good(r) ? python_str(std::string_view{r.value_json}, odd) : friendly(r);
  std::string_view status = good(r) ? "success" : "error";
  auto out_lines = lines(r.stdout_text);
  auto err_lines = good(r) ? lines(r.stderr_text) : errors_of(r);
  json::object_writer inner;
  inner.text("type", "tool")
    .text("tool_return", value)
    .text("status", status)
    .text("tool_call_id", "null")
    .raw("stdout", out_lines)
    .raw("stderr", err_lines);
  json::object_writer out;
  out.text("id", "null")
    .text("date", utc_seconds())
    .text_or_null("name", name)
    .text("message_type", "tool_return_message")
    .raw("otid", "null")
    .raw("sender_id", "null")
    .raw("step_id", "null")
    .raw("is_err", "null")
    .raw("seq_id", "null")
    .raw("run_id", "null")
    .text("tool_return", value)
    .text("status", status)
    .text("tool_call_id", "null")
    .raw("stdout", out_lines)
    .raw("stderr", err_lines)
    .raw("tool_returns", "[" + inner.finish() + "]");
  return out.finish();
}

std::string execution_result(const run_result& r) {
  json::object_writer out;
  out.text("status", good(r) ? "success" : "error");
  if (good(r))
    out.raw("func_return", r.value_json);
  else
    out.text("func_return", friendly(r));
  out.raw("agent_state", "null")
    .raw("stdout", lines(r.stdout_text))
    .raw("stderr", good(r) ? lines(r.stderr_text) : errors_of(r))
    .text_or_null("sandbox_config_fingerprint",
                  decimal_fingerprint(r.fingerprint));
  return out.finish();
}

// -- failures ----------------------------------------------------------------

std::string detail_of(const error& why) {
  if (why.fields.size() < 2)
    return why.text;
  std::string all;
  for (const auto& f : why.fields)
    all += (all.empty() ? "" : "; ") + f.pointer + ": " + f.reason
      + (f.hint.empty() ? "" : " (" + f.hint + ")");
  return all;
}

response write_detail(int status, std::string_view, const error& why,
                      std::string_view, std::string_view) {
  response r;
  r.status = status;
  json::object_writer out;
  if (status == 422)
    out.text("trace_id", "");
  out.text("detail", status == 401 ? "Unauthorized" : detail_of(why));
  r.body = out.finish();
  return r;
}

void fail(exchange& ex, int status, std::string_view detail) {
  error why;
  why.text = std::string{detail};
  ex.answer(write_detail(status, {}, why, {}, {}));
}

void fail_validation(exchange& ex, const error& why) {
  ex.answer(write_detail(422, {}, why, {}, {}));
}

void fail_engine(exchange& ex, const error& why) {
  auto status = why.code == ec::invalid_request ? 400 : status_of(why.code);
  auto told = why;
  if (status == 400)
    told.text = "INVALID_ARGUMENT: " + told.text;
  auto r = write_detail(status, {}, told, {}, {});
  add_retry_after(r, why);
  ex.answer(std::move(r));
}

} // namespace troupe::net::letta
