#include "actors/resolve.hpp"
#include "runtime/model/requirement_merge.hpp"

#include <algorithm>

namespace troupe {

namespace {

template <class T>
result<void> take(result<T> typed, config_view& view) {
  if (!typed)
    return typed.error();
  view.pip = std::move(typed->pip_requirements);
  view.npm = std::move(typed->npm_requirements);
  view.common = std::move(typed->common);
  return {};
}

result<void> read(config_view& view) {
  const auto& config = view.config->config;
  switch (view.config->type) {
  case backend_kind::local:
    return take(as_local(config), view);
  case backend_kind::e2b:
    return take(as_e2b(config), view);
  case backend_kind::modal:
    return take(as_modal(config), view);
  case backend_kind::daytona:
    return take(as_daytona(config), view);
  case backend_kind::aio:
    return take(as_aio(config), view);
  case backend_kind::peer: // the peer has its own
    return {};
  }
  return {};
}

result<sandbox_config> default_of(const organization_id& organization,
                                  backend_kind backend,
                                  const run_rules& rules) {
  sandbox_config config;
  config.organization = organization;
  config.type = backend;
  if (backend == backend_kind::peer)
    return config;
  auto normal = standard_config(backend, rules.configs);
  if (!normal)
    return normal.error();
  config.config = std::move(*normal);
  return config;
}

/// Rank: strict is the strictest.
int strictness(isolation_level level) {
  switch (level) {
  case isolation_level::strict:
    return 3;
  case isolation_level::standard:
    return 2;
  case isolation_level::best_effort:
    return 1;
  case isolation_level::off:
    return 0;
  }
  return 0;
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
      return bad_field("/isolation", "weaker than the sandbox config demands",
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

} // namespace

std::shared_ptr<const sandbox_config>
stored_config(const run_request& request, backend_kind backend,
              const organization_catalog* catalog) {
  if (!catalog)
    return nullptr;
  if (request.config) {
    auto i = catalog->configs.find(request.config);
    if (i != catalog->configs.end() && i->second->type == backend)
      return i->second;
  }
  auto by_type = catalog->configs_by_type.find(backend);
  if (by_type == catalog->configs_by_type.end())
    return nullptr;
  auto i = catalog->configs.find(by_type->second);
  return i == catalog->configs.end() ? nullptr : i->second;
}

/// Where its view is, or will be.
config_view_ptr& config_views::place(const sandbox_config* stored,
                                     const run_request& request,
                                     backend_kind backend) {
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
                                           backend_kind backend,
                                           const organization_catalog* catalog,
                                           const run_rules& rules) {
  auto stored = stored_config(request, backend, catalog);
  auto& known = place(stored.get(), request, backend);
  if (known && (!stored || known->config == stored))
    return known;
  auto view = std::make_shared<config_view>();
  if (stored) {
    view->config = stored;
  } else {
    auto made = default_of(request.organization, backend, rules);
    if (!made)
      return made.error();
    view->config = std::make_shared<const sandbox_config>(std::move(*made));
  }
  if (auto ok = read(*view); !ok)
    return std::move(ok).error().within("sandbox config of "
                                        + std::string{to_string(backend)});
  view->fingerprint = fingerprint(*view->config);
  known = std::move(view);
  return known;
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
