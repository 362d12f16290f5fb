#include "actors/dispatch/run_resolver.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"
#include "runtime/model/package_requirement_merge.hpp"

#include <algorithm>

namespace troupe {

namespace {

result<void> read(config_view& view) {
  auto found = requirements_of(view.config->type, view.config->config);
  if (!found)
    return found.error();
  view.pip = std::move(found->pip);
  view.npm = std::move(found->npm);
  view.common = std::move(found->common);
  return {};
}

result<sandbox_config> default_of(const organization_id& organization,
                                  backend_name backend,
                                  const run_rules& rules) {
  sandbox_config config;
  config.organization = organization;
  config.type = backend.kind();
  auto normal = standard_config(config.type, rules.configs);
  if (!normal)
    return normal.error();
  config.config = std::move(*normal);
  return config;
}

result<isolation_level> choose_isolation(const run_request& request,
                                         const common_config& config,
                                         const run_rules& rules) {
  auto level = rules.isolation;
  if (config.isolation)
    level = *config.isolation;
  if (request.isolation) {
    // A run may ask for more than its config, never for less.
    if (config.isolation
        && strictness(*request.isolation) < strictness(*config.isolation))
      return bad_field("/isolation", "weaker than the sandbox config requires",
                       "leave it out");
    level = *request.isolation;
  }
  if (strictness(level) < strictness(rules.weakest))
    return bad_field("/isolation",
                     std::string{to_string(level)}
                       + " is weaker than this engine permits ("
                       + std::string{to_string(rules.weakest)} + ")",
                     "leave it out, or change the engine's settings");
  return level;
}

backend_kind whose_config(backend_name backend) {
  return backend == backend_kind::peer ? backend_kind::local : backend.kind();
}

result<config_view_ptr>
make_view(std::shared_ptr<const sandbox_config> config) {
  auto view = std::make_shared<config_view>();
  view->config = std::move(config);
  if (auto ok = read(*view); !ok)
    return ok.error();
  view->fingerprint = hex_fingerprint(*view->config);
  return config_view_ptr{std::move(view)};
}

} // namespace

std::shared_ptr<const sandbox_config>
stored_config(const run_request& request, backend_name backend,
              const organization_catalog* catalog) {
  if (!catalog)
    return nullptr;
  const auto kind = whose_config(backend);
  if (request.config) {
    auto i = catalog->configs.find(request.config);
    if (i != catalog->configs.end() && i->second->type == kind)
      return i->second;
  }
  auto by_type = catalog->configs_by_type.find(kind);
  if (by_type == catalog->configs_by_type.end())
    return nullptr;
  auto i = catalog->configs.find(by_type->second);
  return i == catalog->configs.end() ? nullptr : i->second;
}

/// Where its view is, or will be.
config_view_ptr& config_views::place(const sandbox_config* stored,
                                     const run_request& request,
                                     backend_name backend) {
  const auto look = [](auto& known, const auto& key) -> config_view_ptr& {
    constexpr std::size_t limit = 4'096; // then we begin anew
    if (known.size() >= limit && !known.contains(key))
      known.clear();
    return known[key];
  };
  return stored ? look(stored_, stored->id)
                : look(defaults_[backend], request.organization);
}

result<config_view_ptr> config_views::find(const run_request& request,
                                           backend_name backend,
                                           const organization_catalog* catalog,
                                           const run_rules& rules) {
  backend = whose_config(backend); // all accounts of a kind have the same
  auto stored = stored_config(request, backend, catalog);
  auto& known = place(stored.get(), request, backend);
  if (known && (!stored || known->config == stored))
    return known;
  if (!stored) {
    auto made = default_of(request.organization, backend, rules);
    if (!made)
      return made.error();
    stored = std::make_shared<const sandbox_config>(std::move(*made));
  }
  auto view = make_view(std::move(stored));
  if (!view)
    return std::move(view).error().within("sandbox config of "
                                          + std::string{to_string(backend)});
  known = std::move(*view);
  return known;
}

result<config_view_ptr>
config_views::find_sent(const std::string& text,
                        const organization_id& organization,
                        const run_rules& rules) {
  constexpr std::size_t limit = 1'024; // then we begin anew
  std::pair key{organization, text};
  if (auto i = sent_.find(key); i != sent_.end())
    return i->second;
  const auto wrong = [](error why) {
    return std::move(why).within("sandbox config of the run");
  };
  auto payload = json::parse_object(text);
  if (!payload)
    return wrong(std::move(payload.error()));
  auto config = default_of(organization, backend_kind::local, rules);
  if (!config)
    return config.error();
  if (!payload->empty()) { // somebody wrote one
    auto normal = normalize_config(backend_kind::local, *payload, rules.configs,
                                   unknown_members::drop);
    if (!normal)
      return wrong(std::move(normal.error()));
    config->config = std::move(*normal);
  }
  auto view
    = make_view(std::make_shared<const sandbox_config>(std::move(*config)));
  if (!view)
    return wrong(std::move(view.error()));
  if (sent_.size() >= limit)
    sent_.clear();
  return sent_[std::move(key)] = std::move(*view);
}

result<void> fit(prepared_run& run, const resolved_run& resolved,
                 const run_request& request, const config_view& config,
                 const run_rules& rules) {
  auto pip = merge(resolved.pip, "the tool", config.pip, "the sandbox config");
  if (!pip)
    return pip.error();
  run.pip_requirements = std::move(*pip);
  auto npm = merge(resolved.npm, "the tool", config.npm, "the sandbox config");
  if (!npm)
    return npm.error();
  run.npm_requirements = std::move(*npm);

  // What a config says is the default of its runs and their ceiling.
  const auto& common = config.common;
  auto ceiling = apply(rules.ceiling, common.limits, rules.ceiling);
  auto limits = apply(rules.defaults, common.limits, rules.ceiling);
  limits = apply(limits, resolved.tool_limits, ceiling);
  run.limits = apply(limits, request.limits, ceiling);

  run.network = rules.network;
  if (common.network)
    run.network = strictest(run.network, *common.network);
  if (resolved.tool_network)
    run.network = strictest(run.network, *resolved.tool_network);
  if (request.network)
    run.network = strictest(run.network, *request.network);

  auto isolation = choose_isolation(request, common, rules);
  if (!isolation)
    return isolation.error();
  run.isolation = *isolation;
  run.config = config.config;
  return {};
}

} // namespace troupe
