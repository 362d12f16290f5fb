#include "actors/protocol/environment_layers.hpp"

#include "runtime/json/json.hpp"

#include <cstdlib>
#include <map>

namespace troupe {

namespace {

class layers {
public:
  explicit layers(bool with_origins) : with_origins_{with_origins} {}

  void put(const environment& layer, const char* origin) {
    for (const auto& [name, value] : layer)
      put(name, value, origin);
  }

  void put(std::string name, secret value, const char* origin) {
    if (with_origins_)
      add_origin(name, origin);
    done_.variables.insert_or_assign(std::move(name), std::move(value));
  }

  void drop(const std::string& name) {
    done_.variables.erase(name);
    origins_.erase(name);
  }

  layered_environment take() && {
    done_.origins.assign(origins_.begin(), origins_.end());
    return std::move(done_);
  }

  const environment& variables() const { return done_.variables; }

private:
  void add_origin(const std::string& name, const char* origin) {
    auto [i, fresh] = origins_.try_emplace(name, origin);
    if (!fresh && !i->second.starts_with(origin)) // an agent has two layers
      i->second = std::string{origin} + " over " + i->second;
  }

  const bool with_origins_;
  layered_environment done_;
  std::map<std::string, std::string> origins_;
};

result<void> check(const environment& layer, std::string_view pointer) {
  for (const auto& [name, value] : layer) {
    auto where = json::child(pointer, name);
    if (auto ok = check_variable_name(name, where); !ok)
      return ok;
    if (auto ok = check_variable_value(value.reveal(), where); !ok)
      return ok;
  }
  return {};
}

result<void> check_size(const environment& all, const run_rules& rules) {
  if (all.size() > rules.variables)
    return bad_field("/env",
                     "more than " + std::to_string(rules.variables)
                       + " variables, all layers together");
  std::size_t bytes = 0;
  for (const auto& [name, value] : all)
    bytes += name.size() + value.size() + 2; // '=' and the final NUL
  if (bytes > rules.variables_bytes)
    return bad_field("/env",
                     "more than " + std::to_string(rules.variables_bytes)
                       + " bytes of variables, all layers together");
  return {};
}

/// Their names are the engine's even when there is nothing to say.
void put_ids(layers& all, const run_request& request, const tool_id& tool) {
  auto put = [&](const std::string& name, const std::string& value) {
    all.drop(name);
    if (!value.empty())
      all.put(name, secret{value}, "engine");
  };
  auto twins = [&](const std::string& name, const std::string& value) {
    put("LETTA_" + name, value);
    put("TROUPE_" + name, value);
  };
  twins("AGENT_ID", request.agent_id);
  twins("PROJECT_ID", request.project_id);
  twins("TOOL_ID", tool.str());
  put("TRACEPARENT", request.traceparent);
}

} // namespace

result<layered_environment>
layer_environment(const run_request& request, const tool_id& tool,
                  backend_name backend, const resolved_variables& found,
                  const run_rules& rules, bool with_origins) {
  if (auto ok = check(request.agent_env, "/agent_env"); !ok)
    return ok.error();
  if (auto ok = check(request.env, "/env"); !ok)
    return ok.error();
  layers all{with_origins};
  if (backend == backend_kind::local)
    all.put(rules.inherited, "process");
  if (found.of_config)
    all.put(*found.of_config, "config");
  if (found.of_webhook)
    all.put(*found.of_webhook, "webhook");
  if (found.of_agent)
    all.put(*found.of_agent, "agent");
  all.put(request.agent_env, "agent");
  all.put(request.env, "run");
  put_ids(all, request, tool);
  if (auto ok = check_size(all.variables(), rules); !ok)
    return ok.error();
  return std::move(all).take();
}

environment inherit(const std::vector<std::string>& names) {
  environment found;
  for (const auto& name : names)
    if (const char* value = std::getenv(name.c_str()))
      found.emplace(name, secret{value});
  return found;
}

} // namespace troupe
