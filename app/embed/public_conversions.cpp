#include "app/embed/public_conversions.hpp"

#include "net/api/shared/run_json.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/limit_fields.hpp"
#include "runtime/model/run_fields.hpp"

namespace troupe {

namespace {

// What a message has beside a row's member: where `network` leads to.
constexpr std::size_t members_without_row = 1;
static_assert(std::apply(
                [](const auto&... f) {
                  return (
                    std::size_t{member_of<decltype(f.in_message), api::message>}
                    + ...);
                },
                run_fields)
                + members_without_row
              == member_count<api::message>());
static_assert(std::apply(
                [](const auto&... f) {
                  return (
                    std::size_t{member_of<decltype(f.of), api::run_limits>}
                    + ...);
                },
                limit_fields)
              == member_count<api::run_limits>());

// -- one field of a message as ours, by its types -----------------------------

template <class T>
result<void> read(const T& said, T& into) {
  into = said;
  return {};
}

/// "": nothing was said.
template <class T>
result<void> read_parsed(const std::string& said, T& into, auto parse) {
  if (said.empty())
    return {};
  auto parsed = parse(said);
  if (!parsed)
    return parsed.error();
  into = std::move(*parsed);
  return {};
}

template <class T>
result<void> read_each(const std::vector<std::string>& said,
                       std::vector<T>& into, auto parse) {
  for (const auto& each : said) {
    auto parsed = parse(each);
    if (!parsed)
      return parsed.error();
    into.push_back(std::move(*parsed));
  }
  return {};
}

result<network_policy> parse_mode(std::string_view text) {
  for (auto mode :
       {network_mode::off, network_mode::open, network_mode::listed})
    if (to_string(mode) == text)
      return network_policy{mode, {}};
  return bad_request("'" + std::string{text} + "' is not a network mode");
}

result<void> read(const std::string& said, run_id& into) {
  return read_parsed(said, into, [](const auto& text) -> result<run_id> {
    if (auto id = run_id::parse(text))
      return id;
    return bad_request("is not an id of a run");
  });
}
result<void> read(const std::string& said, config_id& into) {
  return read_parsed(said, into, [](const auto& text) -> result<config_id> {
    if (auto id = config_id::parse(text))
      return id;
    return bad_request("is not an id of a sandbox config");
  });
}
result<void> read(const std::string& said, tool_id& into) {
  if (auto id = tool_id::parse(said)) // else a name, see `request_from`
    into = *id;
  return {};
}
result<void> read(const std::string&, organization_id&) {
  return {}; // the caller's, see `caller_for`
}
result<void> read(const std::string& said, language& into) {
  auto lang = parse_language(said);
  if (!lang)
    return lang.error();
  into = *lang;
  return {};
}
result<void> read(const std::string& said, std::optional<backend_name>& into) {
  return read_parsed(said, into, parse_backend_name);
}
result<void> read(const std::string& said,
                  std::optional<isolation_level>& into) {
  return read_parsed(said, into, parse_isolation);
}
result<void> read(const std::string& said,
                  std::optional<network_policy>& into) {
  return read_parsed(said, into, parse_mode);
}
result<void> read(const std::vector<std::string>& said,
                  std::vector<pip_requirement>& into) {
  return read_each(said, into, parse_pip);
}
result<void> read(const std::vector<std::string>& said,
                  std::vector<npm_requirement>& into) {
  return read_each(said, into, parse_npm);
}
result<void> read(const std::map<std::string, std::string>& said,
                  std::vector<run_file>& into) {
  for (const auto& [name, content] : said) {
    if (auto fine = check_file_name(name, "/files"); !fine)
      return fine;
    into.push_back({name, content});
  }
  return {};
}
result<void> read(const std::map<std::string, std::string>& said,
                  environment& into) {
  for (const auto& [name, value] : said)
    into.emplace(name, secret{value});
  return {};
}
result<void> read(const api::run_limits& said, limit_overrides& into) {
  for_each_row(limit_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.of), api::run_limits>)
      if (f.of(said) != std::remove_cvref_t<decltype(f.of(said))>{})
        f.of(into) = f.of(said);
  });
  return {};
}

/// A snippet is a source, in the words of the public interface.
bool has_meaning(const field_rule& rule, run_kind kind) {
  return !rule.only
    || *rule.only == (kind == run_kind::code ? run_kind::source : kind);
}

run_kind kind_of(const api::message& m) {
  return !m.tool.empty() ? run_kind::tool
    : !m.command.empty() ? run_kind::command
                         : run_kind::source;
}

// -- one field of ours for a message ------------------------------------------

template <class T>
void show(const T& value, T& into) {
  into = value;
}
void show(const std::vector<std::string>& list,
          std::vector<std::string>& into) {
  into = list;
}
void show(const std::string& value, std::string& into) {
  into = value;
}
template <class T>
void show(const T& value, std::string& into) {
  if constexpr (requires { value.has_value(); }) {
    if (value)
      show(*value, into);
  } else if constexpr (requires { value.mode; }) {
    into = to_string(value.mode);
  } else {
    into = to_string(value);
  }
}
template <class T>
void show(const std::vector<T>& list, std::vector<std::string>& into) {
  for (const auto& each : list)
    into.push_back(to_string(each));
}
void show(const std::vector<run_file>& files,
          std::map<std::string, std::string>& into) {
  for (const auto& file : files)
    into.emplace(file.name, file.content);
}
void show(const environment& env, std::map<std::string, std::string>& into) {
  // The embedder's backend runs it: it is the last moment.
  for (const auto& [name, value] : env)
    into.emplace(name, value.reveal());
}
void show(const limit_overrides& l, api::run_limits& into) {
  for_each_row(limit_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.of), api::run_limits>)
      f.of(into) = f.of(l).value_or(f.of(into));
  });
}

} // namespace

result<run_request> request_from(const api::message& m) {
  run_request r;
  r.kind = kind_of(m);
  result<void> ok;
  for_each_row(run_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.in_message), const api::message>) {
      if (!ok || !has_meaning(f.rule, r.kind))
        return;
      ok = read(f.in_message(m), f.of(r));
      if (!ok)
        ok = bad_field("/" + std::string{f.in_message.name}, ok.error().text);
    }
  });
  if (!ok)
    return ok.error();
  if (!r.id)
    r.id = run_id::make();
  if (!r.tool)
    r.tool_name = m.tool;
  if (r.network)
    r.network->allow = m.network_allow;
  r.may_be_script = r.kind == run_kind::source && m.arguments.empty()
    && m.function.empty() && m.agent_state.empty();
  if (m.arguments.empty())
    r.args_json = "{}";
  return r;
}

api::message message_from(const run_request& r) {
  api::message m;
  for_each_row(run_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.in_message), api::message>)
      if (has_meaning(f.rule, r.kind))
        show(f.of(r), f.in_message(m));
  });
  if (r.kind == run_kind::tool && !r.tool)
    m.tool = r.tool_name;
  if (r.may_be_script)
    m.arguments.clear();
  if (r.network)
    m.network_allow = r.network->allow;
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
  a.exit_code = shown_exit_code(r);
  a.signal = r.signal;
  a.value_encoding = r.value_encoding;
  a.value_truncated = r.value_truncated;
  for (const auto& f : r.files)
    a.files.push_back({f.name, f.media_type, f.content});
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
  r.exit_code = a.exit_code.value_or(0);
  r.signal = a.signal;
  r.value_encoding = a.value_encoding;
  r.value_truncated = a.value_truncated;
  for (const auto& f : a.files)
    r.files.push_back(
      {f.name,
       f.media_type.empty() ? std::string{media_type_of(f.name)} : f.media_type,
       f.content.size(), f.content, false});
  r.stdout_truncated = a.stdout_truncated;
  r.stderr_truncated = a.stderr_truncated;
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
