#include "actors/audit_lines.hpp"

#include "runtime/digest.hpp"
#include "runtime/model/codec.hpp"

namespace troupe {

namespace {

void put_caller(json::object& line, const caller& who) {
  line["user"] = who.user.str();
  if (who.key)
    line["key"] = who.key.str();
  if (!who.request_id.empty())
    line["request"] = who.request_id;
}

struct change_words {
  json::object& line;

  void operator()(const put_tool& x) {
    line["tool"] = x.value.name;
    line["source_sha256"] = hex(sha256(x.value.source_code));
  }
  void operator()(const update_tool& x) {
    line["tool"] = x.value.id.str();
    line["source_sha256"] = hex(sha256(x.value.source_code));
  }
  void operator()(const delete_tool& x) { line["tool"] = x.id.str(); }
  void operator()(const put_config& x) { line["type"] = to_string(x.type); }
  void operator()(const default_config& x) { line["type"] = to_string(x.type); }
  void operator()(const update_config& x) { line["config"] = x.id.str(); }
  void operator()(const delete_config& x) { line["config"] = x.id.str(); }
  void operator()(const put_variable& x) {
    line["config"] = x.config.str();
    line["name"] = x.key;
  }
  void operator()(const update_variable& x) {
    line["variable"] = x.id.str();
    if (x.key)
      line["name"] = *x.key;
    line["value_changed"] = x.value.has_value();
  }
  void operator()(const delete_variable& x) { line["variable"] = x.id.str(); }
  void operator()(const put_agent_variables& x) {
    line["agent"] = x.agent_id;
    json::array names;
    for (const auto& [name, value] : x.values)
      names.emplace_back(name);
    line["names"] = std::move(names);
    line["replace_all"] = x.replace_all;
  }
  void operator()(const delete_agent_variable& x) {
    line["agent"] = x.agent_id;
    line["name"] = x.key;
  }
  void operator()(const put_key& x) {
    line["key_id"] = x.value.id.str();
    line["name"] = x.value.name;
    line["scopes"] = x.value.scopes;
  }
  void operator()(const delete_key& x) { line["key_id"] = x.id.str(); }
};

} // namespace

json::object audit_of_run(const live_run& run, const prepared_run* prepared) {
  json::object line;
  line.reserve(20); // more than any run has: no growing, no moving
  line["event"] = "run";
  line["run"] = run.id.str();
  put_caller(line, run.who);
  line["kind"] = to_string(run.request->kind);
  if (run.request->tool)
    line["tool"] = run.request->tool.str();
  if (!run.request->tool_name.empty())
    line["tool_name"] = run.request->tool_name;
  if (!run.request->source.empty())
    line["source_sha256"] = hex(sha256(run.request->source));
  if (!run.request->agent_id.empty())
    line["agent"] = run.request->agent_id;
  line["started"] = run.may_have_started.load();
  if (prepared) {
    line["backend"] = to_string(run.backend);
    line["wall_ms"] = prepared->limits.wall.count();
    line["memory_bytes"] = prepared->limits.memory_bytes;
    line["network"] = to_string(prepared->network.mode);
    line["isolation"] = to_string(prepared->isolation);
  }
  if (run.outcome) {
    line["status"] = to_string(run.outcome->status);
    line["reason"] = to_string(run.outcome->reason);
    line["cpu_us"] = run.outcome->usage.cpu.count();
    json::array decisions; // of the network broker; bounded by it
    for (const auto& e : run.outcome->network)
      decisions.push_back(
        {{"target", e.target}, {"allowed", e.allowed}, {"reason", e.reason}});
    if (!decisions.empty())
      line["connections"] = std::move(decisions);
  } else if (run.failure) {
    line["error"] = to_string(run.failure->code);
  }
  return line;
}

json::object audit_of_change(const caller& who, const catalog_change& what,
                             const error* failure) {
  json::object line;
  line["event"] = "change";
  line["change"] = name_of(what);
  put_caller(line, who);
  std::visit(change_words{line}, what);
  line["done"] = failure == nullptr;
  if (failure)
    line["error"] = to_string(failure->code);
  return line;
}

std::string_view name_of(const catalog_change& what) {
  static constexpr std::string_view names[]
    = {"put_tool",        "update_tool",         "delete_tool",
       "put_config",      "default_config",      "update_config",
       "delete_config",   "put_variable",        "update_variable",
       "delete_variable", "put_agent_variables", "delete_agent_variable",
       "put_key",         "delete_key"};
  static_assert(std::size(names) == std::variant_size_v<catalog_change>);
  return names[what.index()];
}

} // namespace troupe
