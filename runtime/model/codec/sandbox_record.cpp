// What is known of sandboxes and of processes in them.
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"
#include "runtime/model/codec/support.hpp"

namespace troupe {

namespace {

json::value seconds_json(std::chrono::milliseconds t) {
  if (t.count() % 1'000 == 0)
    return t.count() / 1'000;
  return static_cast<double>(t.count()) / 1e3;
}

json::value null_or_time(const std::optional<timestamp>& t) {
  return t ? json::value(to_text(*t)) : json::value(nullptr);
}

json::value null_or_text(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object resources_json(const limits& l) {
  json::object o;
  o["memory_bytes"] = l.memory_bytes;
  o["disk_bytes"] = l.disk_bytes;
  o["inodes"] = l.inodes;
  o["processes"] = l.processes;
  return o;
}

json::value failure_json(const std::shared_ptr<const error>& why) {
  if (!why)
    return nullptr;
  json::object o;
  o["code"] = to_string(why->code);
  o["detail"] = why->text;
  return o;
}

} // namespace

json::object to_json(const sandbox_record& r) {
  json::object o;
  o["id"] = r.id.str();
  o["organization_id"] = r.organization.str();
  o["name"] = null_or_text(r.name);
  o["state"] = to_string(r.state);
  o["place"] = to_string(r.place);
  o["template"] = null_or_text(r.template_name);
  o["snapshot"] = null_or_text(r.snapshot);
  json::object metadata;
  for (const auto& [name, value] : r.metadata)
    metadata[name] = value;
  o["metadata"] = std::move(metadata);
  o["created_at"] = to_text(r.created_at);
  o["ends_at"] = null_or_time(r.ends_at);
  o["timeout"] = seconds_json(r.timeout);
  o["on_timeout"] = to_string(r.on_timeout);
  o["idle_timeout"] = r.idle_timeout.count() > 0 ? seconds_json(r.idle_timeout)
                                                 : json::value(nullptr);
  o["on_idle"] = to_string(r.on_idle);
  o["auto_resume"] = r.auto_resume;
  o["session"] = null_or_text(r.session);
  o["isolation"] = to_string(r.isolation);
  o["resources"] = resources_json(r.resources);
  o["network"] = to_json(r.network);
  o["end"] = null_or_text(to_string(r.end));
  o["error"] = failure_json(r.failure);
  return o;
}

json::object to_json(const sandbox_event& e) {
  using kind = sandbox_event::kind;
  json::object o;
  o["number"] = e.number;
  o["at"] = to_text(e.at);
  o["type"] = to_string(e.what);
  if (e.what == kind::state)
    o["state"] = e.subject;
  else if (e.what == kind::snapshot || e.what == kind::rollback)
    o["snapshot"] = e.subject;
  else if (e.what == kind::process_started || e.what == kind::process_ended)
    o["process"] = e.subject;
  o["reason"] = null_or_text(e.reason);
  return o;
}

json::object to_json(const snapshot_record& r) {
  json::object o;
  o["id"] = r.id.str();
  o["name"] = null_or_text(r.name);
  o["sandbox"] = r.sandbox.str();
  o["place"] = to_string(r.place);
  o["template"] = null_or_text(r.template_name);
  o["bytes"] = r.bytes;
  o["how"] = r.copied ? "copy" : "cut";
  o["stood_still_us"] = r.stood_still.count();
  o["created_at"] = to_text(r.created_at);
  return o;
}

json::object to_json(const process_record& r) {
  json::object o;
  o["id"] = r.id;
  o["argv"] = codec::texts(r.argv);
  o["cwd"] = null_or_text(r.cwd);
  o["tag"] = null_or_text(r.tag);
  o["pid"] = r.pid > 0 ? json::value(r.pid) : json::value(nullptr);
  o["state"] = r.ended() ? "ended" : "running";
  o["reason"]
    = r.ended() ? json::value(to_string(r.reason)) : json::value(nullptr);
  const bool has_code = r.reason == process_reason::exited;
  o["exit_code"] = has_code ? json::value(r.exit_code) : json::value(nullptr);
  o["signal"] = r.signal > 0 ? json::value(r.signal) : json::value(nullptr);
  o["detail"] = null_or_text(r.detail);
  o["started_at"] = to_text(r.started_at);
  o["ended_at"] = null_or_time(r.ended_at);
  o["stdout_bytes"] = r.stdout_bytes;
  o["stderr_bytes"] = r.stderr_bytes;
  o["terminal"] = nullptr;
  if (r.terminal)
    o["terminal"]
      = json::object{{"cols", r.terminal->columns}, {"rows", r.terminal->rows}};
  return o;
}

json::object to_json(const context_record& r) {
  json::object o;
  o["id"] = r.id;
  o["name"] = null_or_text(r.name);
  o["language"] = to_string(r.language);
  o["cwd"] = null_or_text(r.cwd);
  o["default"] = r.is_default;
  o["auto_restart"] = r.auto_restart;
  o["state"] = to_string(r.state);
  o["detail"] = null_or_text(r.detail);
  o["pid"] = r.pid > 0 ? json::value(r.pid) : json::value(nullptr);
  o["execution_count"] = r.execution_count;
  o["queued"] = r.queued;
  o["created_at"] = to_text(r.created_at);
  return o;
}

json::object to_json(const cell_record& r) {
  json::object o;
  o["context"] = r.context;
  o["status"] = to_string(r.status);
  o["state"] = r.state_lost ? "lost" : "kept";
  o["execution_count"] = r.execution_count;
  o["detail"] = null_or_text(r.detail);
  o["queued_at"] = to_text(r.queued_at);
  o["began_at"] = null_or_time(r.began_at);
  o["ended_at"] = null_or_time(r.ended_at);
  o["stdout_bytes"] = r.stdout_bytes;
  o["stderr_bytes"] = r.stderr_bytes;
  o["dropped_events"] = r.dropped_events;
  return o;
}

} // namespace troupe
