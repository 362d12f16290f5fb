#include "actors/dispatch/dispatcher.hpp"
#include "actors/protocol/environment_layers.hpp"

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

/// What is known of the answer while the webhook is still asked.
struct draft {
  std::shared_ptr<const run_request> request;
  tool_id tool;
  backend_name first = backend_kind::local;
  resolved_variables found;
  std::shared_ptr<explanation> told;
};

result<explain_result> finish(draft d, const run_rules& rules) {
  auto env
    = layer_environment(*d.request, d.tool, d.first, d.found, rules, true);
  if (!env)
    return env.error();
  d.told->variables = std::move(env->origins);
  return explain_result{std::move(d.told)};
}

/// What the webhook said, or why it said nothing.
void take_over(draft& d, gathered& found) {
  d.found.of_webhook = std::move(found.layers.of_webhook);
  for (auto& note : found.layers.notes)
    d.told->reasons.push_back(std::move(note));
  if (found.failure)
    d.told->reasons.push_back("a run would fail at the moment: "
                              + found.failure->text);
}

// What an answer of the webhook may take to us beyond its own deadline.
constexpr std::chrono::seconds explain_reply_slack{2};

caf::result<explain_result> ask_webhook(dispatcher_state& by,
                                        const credential_actor& credential,
                                        gather_request&& ask, draft d) {
  auto promise = by.self->make_response_promise<explain_result>();
  auto deliver
    = [promise, rules = by.rules, d = std::move(d)](gathered found) mutable {
        take_over(d, found);
        auto done = finish(std::move(d), *rules);
        if (done)
          promise.deliver(std::move(*done));
        else
          promise.deliver(to_caf(std::move(done.error())));
      };
  by.self
    ->request(credential, *by.webhook + explain_reply_slack, explain_v,
              std::move(ask))
    .then([deliver](gathered& found) mutable { deliver(std::move(found)); },
          [deliver](caf::error& e) mutable {
            gathered none;
            none.failure = std::make_shared<const error>(from_caf(e));
            deliver(std::move(none));
          });
  return promise;
}

} // namespace

caf::result<explain_result>
dispatcher_state::explain(const active_run_ptr& asked) {
  const auto wanted = asked->request();
  const auto& request = *wanted;
  const auto picture = config.of(configuration->current());
  const auto* catalog = picture->find(request.organization);
  auto r = resolve(request, catalog, *rules, tools);
  if (!r)
    return to_caf(std::move(r.error()));
  auto plan = plan_backends(r->wish, viewer(), true);
  if (!plan)
    return to_caf(std::move(plan.error()));
  draft d{wanted, r->tool, plan->candidates.front(), {}, {}};
  auto view = views.find(request, d.first, catalog, *rules);
  if (!view)
    return to_caf(std::move(view.error()));
  auto& run = r->base;
  if (auto ok = fit(*run, *r, request, **view, *rules); !ok)
    return to_caf(std::move(ok.error()));
  if (catalog) {
    d.found.of_config = std::make_shared<const environment>(
      names_of(*catalog, run->config->id));
    d.found.of_agent = std::make_shared<const environment>(
      names_of(*catalog, request.agent_id));
  }
  d.told = std::make_shared<explanation>();
  d.told->candidates = std::move(plan->candidates);
  d.told->reasons = std::move(plan->reasons);
  d.told->limits = run->limits;
  d.told->network = std::move(run->network);
  d.told->isolation = run->isolation;
  d.told->fingerprint = (*view)->fingerprint;
  const auto& credential = routes.of(services->routes)->credential;
  if (!webhook || !credential) {
    auto done = finish(std::move(d), *rules);
    if (!done)
      return to_caf(std::move(done.error()));
    return std::move(*done);
  }
  gather_request ask;
  ask.run = asked;
  ask.tool_name = run->name;
  return ask_webhook(*this, credential, std::move(ask), std::move(d));
}

} // namespace troupe
