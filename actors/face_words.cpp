#include "actors/face_words.hpp"

#include "runtime/json/json.hpp"

namespace troupe {

result<run_request> request_from(const api::message& m) {
  run_request r;
  r.id = run_id::make();
  if (!m.tool.empty()) {
    r.kind = run_kind::tool;
    if (auto id = tool_id::parse(m.tool))
      r.tool = *id;
    else
      r.tool_name = m.tool;
  } else {
    r.kind = run_kind::source;
    r.source = m.source;
    r.function = m.function;
    auto lang = parse_language(m.language);
    if (!lang)
      return bad_field("/language", lang.error().text);
    r.lang = *lang;
  }
  r.args_json = m.arguments;
  for (const auto& [name, value] : m.variables)
    r.env.emplace(name, secret{value});
  r.agent_id = m.agent_id;
  if (!m.backend.empty()) {
    auto kind = parse_backend(m.backend);
    if (!kind)
      return bad_field("/backend", kind.error().text);
    r.backend = *kind;
  }
  r.idempotency_key = m.idempotency_key;
  r.idempotent = m.idempotent;
  r.priority = m.priority;
  r.deadline = m.deadline;
  return r;
}

api::message message_from(const prepared_run& run) {
  api::message m;
  m.source = run.source;
  m.function = run.function;
  m.language = to_string(run.lang);
  m.arguments = run.args_json;
  // The carrier carries the run out: it is the last moment.
  for (const auto& [name, value] : run.env)
    m.variables.emplace(name, value.reveal());
  m.organization = run.organization.str();
  m.agent_id = run.agent_id;
  return m;
}

api::answer answer_from(const run_result& r) {
  api::answer a;
  a.id = r.id.str();
  a.succeeded = r.status == run_status::success;
  a.reason = to_string(r.reason);
  a.detail = r.detail;
  a.value = r.value_json;
  a.error = r.failure.friendly.empty() ? r.failure.message : r.failure.friendly;
  a.output = r.stdout_text;
  a.errors = r.stderr_text;
  a.backend = to_string(r.backend);
  a.wall = r.usage.wall;
  a.cpu = r.usage.cpu;
  return a;
}

run_result result_from(const api::answer& a, const run_id& id) {
  run_result r;
  r.id = id;
  r.status = a.succeeded ? run_status::success : run_status::error;
  auto reason = parse_exit_reason(a.reason);
  r.reason = reason ? *reason : exit_reason::exited;
  r.detail = a.detail;
  if (json::check(a.value)) {
    r.value_json = a.value;
  } else {
    // A carrier is trusted to run tools, not to spell JSON.
    r.value_json.clear();
    json::append_string(r.value_json, a.value);
    r.value_is_text_fallback = true;
  }
  r.failure.message = a.error;
  r.failure.friendly = a.error;
  r.stdout_text = json::repair_utf8(a.output);
  r.stderr_text = json::repair_utf8(a.errors);
  r.usage.wall = a.wall;
  r.usage.cpu = a.cpu;
  return r;
}

api::failure failure_from(const error& e) {
  return {std::string{to_string(e.code)}, e.text, e.retry_after, retryable(e)};
}

api::reply reply_from(const result<std::shared_ptr<const run_result>>& r) {
  if (!r)
    return failure_from(r.error());
  return answer_from(**r);
}

caller caller_for(std::string_view organization) {
  caller who;
  who.organization = organization.empty()
    ? default_organization()
    : organization_id{std::string{organization}};
  who.user = default_user();
  return who;
}

} // namespace troupe
