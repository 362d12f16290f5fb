#include "actors/cluster/peer_backend.hpp"
#include "runtime/engine/request_for.hpp"
#include "runtime/json/json.hpp"

namespace troupe {

run_request request_for_peer(const prepared_run& run) {
  auto r = request_for(run); // its id too: the node refuses to run it twice
  r.tool_name = run.name;
  // Complete, and later than whatever the node adds. What belongs to the engine
  // is said in its own fields: the node injects it again.
  auto take = [&](const std::string& name) {
    auto letta = r.env.extract("LETTA_" + name);
    auto own = r.env.extract("TROUPE_" + name);
    return own ? std::string{own.mapped().reveal()} : std::string{};
  };
  r.agent_id = take("AGENT_ID");
  r.project_id = take("PROJECT_ID");
  r.tool = tool_id{take("TOOL_ID")};
  r.env.erase("TRACEPARENT");
  r.backend = backend_kind::local;
  r.config = {}; // the node has its own: see config_for_peer
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
