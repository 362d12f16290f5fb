#include "actors/config/credential.hpp"

namespace troupe {

namespace {

/// What an answer may take from the webhook's deadline to us.
constexpr auto webhook_reply_slack = std::chrono::milliseconds{500};

environment names_of(const environment& known) {
  environment names;
  for (const auto& [name, value] : known)
    names.emplace(name, secret{});
  return names;
}

template <class Variables, class Store>
result<environment> unseal_all(const Variables& variables, const Store& store) {
  environment values;
  for (const auto& [name, sealed] : variables) {
    auto value = store.unseal(*sealed);
    if (!value)
      return std::move(value).error().within("variable " + name);
    values.emplace(name, std::move(*value));
  }
  return values;
}

} // namespace

credential_services::credential_services(const context_ptr& engine)
    : rules{engine->options.credentials}, webhook{engine->options.webhook},
      store{engine->configuration}, metrics{engine, &engine->metrics} {}

void credential_state::gather(const gather_request& what) {
  waiter who;
  who.home = caf::actor_cast<dispatcher_actor>(self->current_sender());
  if (!who.home)
    return;
  who.found.run = what.run;
  who.found.number = what.number;
  if (auto ok = unseal_stored(what, who.found.layers); !ok) {
    who.found.failure = std::make_shared<const error>(std::move(ok.error()));
    return reply(who);
  }
  if (!webhook)
    return reply(who);
  ask(query_for(what), std::move(who));
}

caf::result<gathered> credential_state::explain(const gather_request& what) {
  waiter who;
  who.found.run = what.run;
  who.found.number = what.number;
  if (!webhook)
    return std::move(who.found);
  auto promise = self->make_response_promise<gathered>();
  who.explained = promise;
  ask(query_for(what), std::move(who)); // may answer at once
  return promise;
}

credential_query credential_state::query_for(const gather_request& what) const {
  credential_query query;
  query.organization = what.run->who.organization;
  query.user = what.run->who.user;
  query.tool_name = what.tool_name;
  query.agent_id = what.run->agent_id;
  if (auto request = what.run->request()) // else it has just ended
    query.traceparent = request->traceparent;
  return query;
}

result<void> credential_state::unseal_stored(const gather_request& what,
                                             resolved_variables& found) {
  auto catalog = store->current().load();
  auto i = catalog->organizations.find(what.run->who.organization);
  if (i == catalog->organizations.end())
    return {};
  const auto& mine = i->second;
  auto layer = [&](const std::string& key, const auto& variables,
                   env_ptr& into) -> result<void> {
    if (const auto* hit = known->find(key, clock::now());
        hit && hit->of == mine) {
      into = hit->values;
      return {};
    }
    auto values = unseal_all(variables, *store);
    if (!values)
      return values.error();
    into = std::make_shared<const environment>(std::move(*values));
    known->put(key, {mine, into}, clock::now());
    sweep_later();
    return {};
  };
  if (auto v = mine->variables.find(what.config);
      v != mine->variables.end() && !v->second.empty())
    if (auto ok = layer(what.config.str(), v->second, found.of_config); !ok)
      return ok;
  const auto& agent = what.run->agent_id;
  if (auto v = mine->agent_variables.find(agent);
      !agent.empty() && v != mine->agent_variables.end())
    // '/' keeps agents apart from configs, and organizations from each other.
    if (auto ok
        = layer(mine->id.str() + "/" + agent, v->second, found.of_agent);
        !ok)
      return ok;
  return {};
}

// -- webhook ------------------------------------------------------------------

void credential_state::ask(const credential_query& query, waiter who) {
  if (const auto* hit = answers->find(query, clock::now())) {
    engine_metrics::add(metrics->webhook_cached);
    who.found.layers.of_webhook = *hit;
    return reply(who);
  }
  if (auto i = asking.find(query); i != asking.end()) {
    calls[i->second].waiting.push_back(std::move(who));
    return;
  }
  const auto number = ++last_call;
  asking.emplace(query, number);
  auto& call = calls[number];
  call.query = query;
  call.waiting.push_back(std::move(who));
  engine_metrics::add(metrics->webhook_asked);
  auto done = [home = credential_actor{self},
               number](result<environment> answer) {
    caf::anon_send(home, done_v, number,
                   std::make_shared<result<environment>>(std::move(answer)));
  };
  const auto patience = rules.webhook_timeout;
  // It has a deadline of its own; one that forgets us must not keep the runs.
  self->delayed_send(self, patience + webhook_reply_slack, tick_v, number);
  webhook->ask(query, patience, std::move(done));
}

void credential_state::answered(std::uint64_t number,
                                result<environment> answer) {
  auto n = calls.extract(number);
  if (!n)
    return;
  auto& call = n.mapped();
  asking.erase(call.query);
  std::vector<std::string> notes;
  auto values = checked(std::move(answer), notes);
  if (values) {
    answers->put(call.query, *values, clock::now());
    sweep_later();
  } else {
    engine_metrics::add(metrics->webhook_failed);
  }
  for (auto& who : call.waiting) {
    for (const auto& note : notes)
      who.found.layers.notes.push_back(note);
    if (values) {
      who.found.layers.of_webhook = *values;
    } else if (rules.when_webhook_fails == credential_rules::on_error::fail) {
      who.found.failure = std::make_shared<const error>(values.error());
    } else {
      who.found.layers.notes.push_back(
        "the credentials webhook failed (" + values.error().text
        + "); the run continued without its variables");
    }
    reply(who);
  }
}

result<credential_state::env_ptr>
credential_state::checked(result<environment> answer,
                          std::vector<std::string>& notes) {
  if (!answer)
    return error{ec::unavailable, answer.error().text};
  const bool strict
    = rules.when_webhook_fails == credential_rules::on_error::fail;
  std::size_t left_out = 0;
  std::string reason;
  for (auto i = answer->begin(); i != answer->end();) {
    auto ok = check_variable_name(i->first);
    if (ok)
      ok = check_variable_value(i->second.reveal());
    if (ok) {
      ++i;
      continue;
    }
    if (strict)
      return error{ec::unavailable,
                   "the credentials webhook sent a variable that is not "
                   "allowed: "
                     + ok.error().text};
    if (++left_out == 1)
      reason = ok.error().text;
    i = answer->erase(i);
  }
  if (left_out > 0)
    notes.push_back(
      std::to_string(left_out)
      + " variables of the credentials webhook were ignored; the first: "
      + reason);
  return std::make_shared<const environment>(std::move(*answer));
}

void credential_state::reply(waiter& who) {
  if (who.explained.pending()) {
    auto& layer = who.found.layers.of_webhook;
    if (layer)
      layer = std::make_shared<const environment>(names_of(*layer));
    who.explained.deliver(std::move(who.found));
    return;
  }
  self->send<caf::message_priority::high>(who.home, gather_v,
                                          std::move(who.found));
}

// -- forgetting ---------------------------------------------------------------

void credential_state::sweep_later() {
  if (std::exchange(sweeping, true))
    return;
  self->delayed_send(self, rules.keep_for, tick_v, std::uint64_t{0});
}

void credential_state::sweep() {
  sweeping = false;
  known->sweep(clock::now());
  answers->sweep(clock::now());
  if (known->size() + answers->size() > 0)
    sweep_later();
}

void credential_state::stop() {
  for (auto& [number, call] : calls)
    for (auto& who : call.waiting) {
      who.found.failure = std::make_shared<const error>(
        error{ec::unavailable, "the engine is stopping"});
      reply(who);
    }
  calls.clear();
}

credential_actor::behavior_type
credential(credential_actor::stateful_pointer<credential_state> self,
           credential_services services) {
  auto& state = self->state;
  state.self = self;
  static_cast<credential_services&>(state) = std::move(services);
  const auto& rules = state.rules;
  state.known.emplace(rules.keep_for, rules.kept);
  state.answers.emplace(rules.keep_for, rules.kept);
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.stop();
    self->quit(std::move(m.reason));
  });
  return {
    [self](gather_atom, const gather_request& what) {
      self->state.gather(what);
    },
    [self](explain_atom, const gather_request& what) {
      return self->state.explain(what);
    },
    [self](done_atom, std::uint64_t call,
           std::shared_ptr<result<environment>>& answer) {
      self->state.answered(call, std::move(*answer));
    },
    [self](tick_atom, std::uint64_t call) {
      if (call == 0)
        return self->state.sweep();
      self->state.answered(
        call, error{ec::timeout, "the webhook did not answer in time"});
    },
  };
}

} // namespace troupe
