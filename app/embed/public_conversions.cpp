#include "app/embed/public_conversions.hpp"

#include "net/api/run_json.hpp"
#include "runtime/json/json.hpp"

namespace troupe {

namespace {

/// "": nothing was said.
template <class T>
result<void> read_said(const std::string& said, const char* pointer,
                       result<T> (*parse)(std::string_view),
                       std::optional<T>& into) {
  if (said.empty())
    return {};
  auto parsed = parse(said);
  if (!parsed)
    return bad_field(pointer, parsed.error().text);
  into = std::move(*parsed);
  return {};
}

template <class T>
result<void>
read_said(const std::vector<std::string>& said, const char* pointer,
          result<T> (*parse)(std::string_view), std::vector<T>& into) {
  for (const auto& each : said) {
    auto parsed = parse(each);
    if (!parsed)
      return bad_field(pointer, parsed.error().text);
    into.push_back(std::move(*parsed));
  }
  return {};
}

result<network_mode> parse_mode(std::string_view text) {
  for (auto mode :
       {network_mode::off, network_mode::open, network_mode::listed})
    if (to_string(mode) == text)
      return mode;
  return bad_request("'" + std::string{text} + "' is not a network mode");
}

result<void> read_program(const api::message& m, run_request& r) {
  if (!m.tool.empty()) {
    r.kind = run_kind::tool;
    if (auto id = tool_id::parse(m.tool))
      r.tool = *id;
    else
      r.tool_name = m.tool;
    return {};
  }
  if (!m.command.empty()) {
    r.kind = run_kind::command;
    r.command = m.command;
    r.stdin_text = m.standard_input;
    return {};
  }
  r.kind = run_kind::source;
  r.source = m.source;
  r.function = m.function;
  auto lang = parse_language(m.language);
  if (!lang)
    return bad_field("/language", lang.error().text);
  r.lang = *lang;
  return {};
}

limit_overrides overrides_from(const api::run_limits& l) {
  limit_overrides said;
  auto take = [](auto value, auto& into) {
    if (value != decltype(value){})
      into = value;
  };
  take(l.wall, said.wall);
  take(l.cpu, said.cpu);
  take(l.memory_bytes, said.memory_bytes);
  take(l.processes, said.processes);
  take(l.disk_bytes, said.disk_bytes);
  take(l.output_bytes, said.output_bytes);
  take(l.result_bytes, said.result_bytes);
  return said;
}

/// Where it goes and what it gets there.
result<void> read_place(const api::message& m, run_request& r) {
  std::optional<network_mode> mode;
  for (auto ok :
       {read_said(m.backend, "/backend", &parse_backend, r.backend),
        read_said(m.isolation, "/isolation", &parse_isolation, r.isolation),
        read_said(m.network, "/network", &parse_mode, mode),
        read_said(m.pip, "/pip", &parse_pip, r.pip_requirements),
        read_said(m.npm, "/npm", &parse_npm, r.npm_requirements)})
    if (!ok)
      return ok;
  if (mode)
    r.network = network_policy{*mode, m.network_allow};
  if (!m.config.empty()) {
    auto id = config_id::parse(m.config);
    if (!id)
      return bad_field("/config", "is not a sandbox config id");
    r.config = *id;
  }
  r.limits = overrides_from(m.limits);
  return {};
}

} // namespace

result<run_request> request_from(const api::message& m) {
  run_request r;
  r.id = run_id::make();
  if (!m.id.empty()) {
    auto id = run_id::parse(m.id);
    if (!id)
      return bad_field("/id", "is not a run id");
    r.id = *id;
  }
  for (auto read_part : {&read_program, &read_place})
    if (auto ok = read_part(m, r); !ok)
      return ok.error();
  r.args_json = m.arguments;
  for (const auto& [name, value] : m.variables)
    r.env.emplace(name, secret{value});
  r.agent_id = m.agent_id;
  r.agent_state_json = m.agent_state;
  r.idempotency_key = m.idempotency_key;
  r.idempotent = m.idempotent;
  r.priority = m.priority;
  r.deadline = m.deadline;
  r.traceparent = m.traceparent;
  r.labels = m.labels;
  return r;
}

api::message message_from(const prepared_run& run) {
  api::message m;
  m.id = run.id.str();
  m.command = run.command;
  m.standard_input = run.stdin_text;
  m.source = run.source;
  m.function = run.function;
  m.language = to_string(run.lang);
  m.arguments = run.args_json;
  // The embedder's backend runs it: it is the last moment.
  for (const auto& [name, value] : run.env)
    m.variables.emplace(name, value.reveal());
  m.organization = run.organization.str();
  m.agent_id = run.agent_id;
  m.agent_state = run.agent_state_json;
  m.traceparent = run.traceparent;
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
  a.stdout_text = r.stdout_text;
  a.stderr_text = r.stderr_text;
  a.backend = to_string(r.backend);
  a.wall = r.usage.wall;
  a.cpu = r.usage.cpu;
  a.peak_memory_bytes = r.usage.peak_memory_bytes;
  a.exit_code = r.exit_code;
  a.signal = r.signal;
  a.value_truncated = r.value_truncated;
  a.stdout_truncated = r.stdout_truncated;
  a.stderr_truncated = r.stderr_truncated;
  a.agent_state = r.agent_state_json;
  a.isolation = to_string(r.isolation.level);
  for (const auto& s : r.stages)
    a.stages.push_back({s.name, s.took});
  for (const auto& step : r.trail)
    a.failover.push_back({std::string{to_string(step.backend)}, step.reason});
  a.notes = r.notes;
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
    // The embedder's backend is trusted to run tools, not to write JSON.
    r.value_json.clear();
    json::append_string(r.value_json, a.value);
    r.value_is_text_fallback = true;
  }
  r.failure.message = a.error;
  r.failure.friendly = a.error;
  r.stdout_text = json::repair_utf8(a.stdout_text);
  r.stderr_text = json::repair_utf8(a.stderr_text);
  r.usage.wall = a.wall;
  r.usage.cpu = a.cpu;
  r.usage.peak_memory_bytes = a.peak_memory_bytes;
  r.exit_code = a.exit_code;
  r.signal = a.signal;
  if (json::check(a.agent_state))
    r.agent_state_json = a.agent_state;
  r.notes = a.notes;
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

api::event event_from(const run_event& e) {
  return {e.sequence, std::string{net::to_string(e.kind)}, e.data};
}

std::variant<api::record, api::failure> record_from(result<run_record> r) {
  if (!r)
    return failure_from(r.error());
  api::record found;
  found.id = r->id.str();
  found.phase = net::to_string(r->phase);
  found.tool = r->tool_name;
  found.backend = to_string(r->backend);
  if (r->result)
    found.end = answer_from(*r->result);
  else if (r->failure)
    found.end = failure_from(*r->failure);
  return found;
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
