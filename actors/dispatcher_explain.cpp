#include "actors/dispatcher.hpp"
#include "actors/environment_layers.hpp"

namespace troupe {

namespace {

/// Names only: what a run would see, with its value nowhere near.
environment names_of(const organization_catalog& catalog,
                     const config_id& config) {
  environment names;
  if (auto i = catalog.variables.find(config); i != catalog.variables.end())
    for (const auto& [name, sealed] : i->second)
      names.emplace(name, secret{});
  return names;
}

environment names_of(const organization_catalog& catalog,
                     const std::string& agent) {
  environment names;
  if (auto i = catalog.agent_variables.find(agent);
      i != catalog.agent_variables.end())
    for (const auto& [name, sealed] : i->second)
      names.emplace(name, secret{});
  return names;
}

} // namespace

caf::result<explain_result> dispatcher_state::explain(const execution& what) {
  const auto& request = *what.request;
  const auto& rules = context->options.rules;
  const auto picture = config.of(context->config);
  const auto* catalog = picture->find(request.organization);
  auto r = resolve(request, catalog, rules, tools);
  if (!r)
    return to_caf(std::move(r.error()));
  auto plan = plan_backends(r->wish, viewer(), true);
  if (!plan)
    return to_caf(std::move(plan.error()));
  const auto first = plan->candidates.front();
  auto view = views.find(request, first, catalog, rules);
  if (!view)
    return to_caf(std::move(view.error()));
  auto& run = r->base;
  if (auto ok = fit(*run, *r, request, **view, rules); !ok)
    return to_caf(std::move(ok.error()));
  found_layers found;
  if (catalog) {
    found.of_config = std::make_shared<const environment>(
      names_of(*catalog, run->config->id));
    found.of_agent = std::make_shared<const environment>(
      names_of(*catalog, request.agent_id));
  }
  auto env = layer_environment(request, r->tool, first, found, rules, true);
  if (!env)
    return to_caf(std::move(env.error()));
  auto told = std::make_shared<explanation>();
  told->variables = std::move(env->origins);
  told->candidates = std::move(plan->candidates);
  told->reasons = std::move(plan->reasons);
  if (context->options.webhook)
    told->reasons.emplace_back(
      "the credentials webhook is asked when the tool runs; its variables are "
      "not listed here");
  told->limits = run->limits;
  told->network = std::move(run->network);
  told->isolation = run->isolation;
  told->fingerprint = (*view)->fingerprint;
  return explain_result{std::move(told)};
}

} // namespace troupe
