#include "actors/state/audit_entries.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <span>

namespace troupe {

namespace {

constexpr std::size_t usual_bytes = 640; // a run's line has some 500

/// One line: an object.
template <class Members>
std::string write_line(Members members) {
  json::object_writer line;
  line.reserve(usual_bytes);
  members(line);
  return line.finish();
}

/// The decisions of the network broker. A tool chooses the names, and how many
/// there are: it must not make the line longer than one may be.
void put_connections(json::writer& line,
                     const std::vector<network_event>& all) {
  constexpr std::size_t most = 32; // of some 300 bytes
  const auto told = std::span{all}.first(std::min(most, all.size()));
  if (!told.empty())
    line.objects("connections", told, [&](const network_event& e) {
      line.text("target", e.target);
      line.boolean("allowed", e.allowed);
      line.text("reason", e.reason);
    });
  if (all.size() > most)
    line.number("more_connections", all.size() - most);
}

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
  void operator()(const delete_organization& x) {
    line["deleted"] = x.id.str();
  }
};

} // namespace

namespace {

void put_request(json::writer& line, const active_run& run,
                 const run_request& request) {
  line.text("event", "run");
  line.text("run", run.id.str());
  line.text("user", run.who.user.str());
  if (run.who.key)
    line.text("key", run.who.key.str());
  if (!run.who.request_id.empty())
    line.text("request", run.who.request_id);
  line.text("kind", to_string(request.kind));
  if (request.tool)
    line.text("tool", request.tool.str());
  if (!request.tool_name.empty())
    line.text("tool_name", request.tool_name);
  if (!request.source.empty())
    line.text("source_sha256", hex(sha256(request.source)));
  if (!request.agent_id.empty())
    line.text("agent", request.agent_id);
}

void put_bounds(json::writer& line, const prepared_run& prepared) {
  line.number("wall_ms", prepared.limits.wall.count());
  line.number("memory_bytes", prepared.limits.memory_bytes);
  line.text("network", to_string(prepared.network.mode));
  line.text("isolation", to_string(prepared.isolation));
}

void put_end(json::writer& line, const active_run& run) {
  if (run.outcome) {
    line.text("status", status_of(*run.outcome));
    line.text("reason", to_string(run.outcome->reason));
    line.number("cpu_us", run.outcome->usage.cpu.count());
    put_connections(line, run.outcome->network);
  } else if (run.failure) {
    line.text("error", to_string(run.failure->code));
  }
}

} // namespace

std::string audit_of_run(const active_run& run, const prepared_run* prepared) {
  const auto request = run.request();
  return write_line([&](json::writer& line) {
    put_request(line, run, *request);
    line.boolean("started", run.may_have_started);
    if (prepared) {
      line.text("backend", to_string(run.backend));
      put_bounds(line, *prepared);
    }
    put_end(line, run);
  });
}

std::string audit_of_change(const caller& who, const catalog_change& what,
                            const error* failure) {
  json::object line;
  line["event"] = "change";
  line["change"] = name_of(what);
  put_caller(line, who);
  std::visit(change_words{line}, what);
  line["done"] = failure == nullptr;
  if (failure)
    line["error"] = to_string(failure->code);
  return json::to_text(line);
}

std::string_view name_of(const catalog_change& what) {
  static constexpr std::string_view names[]
    = {"put_tool",        "update_tool",         "delete_tool",
       "put_config",      "default_config",      "update_config",
       "delete_config",   "put_variable",        "update_variable",
       "delete_variable", "put_agent_variables", "delete_agent_variable",
       "put_key",         "delete_key",          "delete_organization"};
  static_assert(std::size(names) == std::variant_size_v<catalog_change>);
  return names[what.index()];
}

} // namespace troupe
