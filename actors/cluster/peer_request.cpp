#include "actors/cluster/peer_backend.hpp"
#include "runtime/json/json.hpp"

#include <algorithm>

namespace troupe {

namespace {

limit_overrides all_of(const limits& l) {
  limit_overrides said;
  said.wall = l.wall;
  said.cpu = l.cpu;
  said.memory_bytes = l.memory_bytes;
  said.processes = l.processes;
  said.open_files = l.open_files;
  said.disk_bytes = l.disk_bytes;
  said.inodes = l.inodes;
  said.output_bytes = l.output_bytes;
  said.result_bytes = l.result_bytes;
  return said;
}

} // namespace

run_request request_for_peer(const prepared_run& run) {
  run_request r;
  r.id = run.id; // the node refuses to run it twice
  r.organization = run.organization;
  r.kind = run.kind;
  r.lang = run.lang;
  r.tool_name = run.name;
  r.function = run.function;
  r.source = run.source;
  r.argv = run.argv;
  r.command = run.command;
  r.stdin_text = run.stdin_text;
  r.args_json = run.args_json;
  r.lenient_arguments = run.lenient_arguments;
  r.json_schema = run.json_schema;
  r.args_json_schema = run.args_json_schema;
  r.pip_requirements = run.pip_requirements;
  r.npm_requirements = run.npm_requirements;
  r.return_char_limit = run.return_char_limit;
  // Complete, and later than whatever the node adds. What belongs to the engine
  // is said in its own fields: the node injects it again.
  r.env = run.env;
  auto take = [&](const std::string& name) {
    auto letta = r.env.extract("LETTA_" + name);
    auto own = r.env.extract("TROUPE_" + name);
    return own ? std::string{own.mapped().reveal()} : std::string{};
  };
  r.agent_id = take("AGENT_ID");
  r.project_id = take("PROJECT_ID");
  r.tool = tool_id{take("TOOL_ID")};
  r.env.erase("TRACEPARENT");
  r.agent_state_json = run.agent_state_json;
  r.backend = backend_kind::local;
  r.limits = all_of(run.limits);
  r.network = run.network;
  r.isolation = run.isolation;
  r.traceparent = run.traceparent;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
    run.deadline - std::chrono::steady_clock::now());
  r.deadline = std::max(std::chrono::milliseconds{1}, left);
  return r;
}

std::string config_for_peer(const prepared_run& run,
                            const std::string& standard_dir) {
  const auto& config = config_of(run);
  json::object told;
  if (config.id) // else nobody wrote one: the node's own standard is as good
    for (auto name : {"sandbox_dir", "use_venv", "venv_name"})
      if (auto* said = config.config.if_contains(name);
          said && !(said->is_string() && said->get_string() == standard_dir))
        told[name] = *said;
  return json::to_text(told);
}

} // namespace troupe
