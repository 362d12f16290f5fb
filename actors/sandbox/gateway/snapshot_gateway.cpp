// Snapshots and forks as front doors see them.
#include "actors/sandbox/gateway/fork_parts.hpp"
#include "actors/sandbox/gateway/sandbox_gateway.hpp"
#include "actors/sandbox/place_call.hpp"

#include <atomic>

namespace troupe {

namespace {

/// The answers of the forks, of which each comes by itself.
struct fork_answers {
  fork_answers(std::size_t count, sandbox_handler<sandbox_engine::forks> then)
      : all(count, sandbox_error{}), left{count}, done{std::move(then)} {}

  sandbox_engine::forks all; // each place written by one answer
  std::atomic<std::size_t> left;
  sandbox_handler<sandbox_engine::forks> done;
};

} // namespace

void forget_at_place(const sandbox_services& services,
                     const snapshot_index::entry& gone) {
  const auto& at = services.options.places[gone.place];
  call_scope scope{std::chrono::steady_clock::now()
                     + services.options.rules.call_timeout,
                   nullptr};
  auto work
    = [provider = at.provider, id = gone.at_place, scope = std::move(scope)] {
        return provider->forget_snapshot(id, scope);
      };
  call_place<result<void>>(at.executor, std::move(work),
                           [](std::optional<result<void>>) {});
}

sandbox_spec spec_of_fork(const sandbox_spec& parent, const fork_spec& what,
                          const std::string& snapshot) {
  auto spec = parent;
  spec.snapshot = snapshot;
  spec.template_name.clear(); // the snapshot's
  if (what.timeout)
    spec.timeout = what.timeout;
  if (!what.metadata.empty())
    spec.metadata = what.metadata;
  for (const auto& [name, value] : what.env)
    spec.env.insert_or_assign(name, value);
  return spec;
}

void sandbox_gateway::snapshot(caller who, sandbox_id id, std::string name,
                               done<snapshot_record_ptr> then) {
  auto told = [then = std::move(then)](sandbox_result<taken_snapshot> came) {
    if (came)
      then(std::move(came->record));
    else
      then(came.error());
  };
  tell<taken_snapshot>(who, id, std::move(told), snapshot_v,
                       snapshot_order{std::move(name), false});
}

void sandbox_gateway::list_snapshots(
  caller who, done<std::vector<snapshot_record_ptr>> then) {
  then(services_->snapshots.list(who.organization));
}

void sandbox_gateway::find_snapshot(caller who, std::string which,
                                    done<snapshot_record_ptr> then) {
  auto found = services_->snapshots.find(who.organization, which);
  if (found)
    then(std::move(found->record));
  else
    then(no_such_snapshot(which));
}

void sandbox_gateway::remove_snapshot(caller who, std::string which,
                                      done<void> then) {
  auto gone = services_->snapshots.take(who.organization, which);
  if (!gone)
    return then(no_such_snapshot(which));
  forget_at_place(*services_, *gone);
  then({});
}

void sandbox_gateway::rollback(caller who, sandbox_id id, std::string snapshot,
                               done<sandbox_record_ptr> then) {
  tell<sandbox_record_ptr>(who, id, std::move(then), rollback_v,
                           rollback_order{std::move(snapshot)});
}

void sandbox_gateway::fork(caller who, sandbox_id id, fork_spec what,
                           done<forks> then) {
  if (auto why = too_long(what.timeout))
    return then(std::move(*why));
  auto taken = [this, who, what, then](sandbox_result<taken_snapshot> came) {
    if (!came)
      return then(came.error());
    const auto snapshot = came->record->id.str();
    auto answers = std::make_shared<fork_answers>(what.count, then);
    for (std::size_t i = 0; i < what.count; ++i)
      create(who, spec_of_fork(*came->parent, what, snapshot),
             [services = services_, who, snapshot, answers,
              i](sandbox_result<sandbox_record_ptr> made) {
               answers->all[i] = std::move(made);
               if (--answers->left > 0)
                 return;
               if (auto gone
                   = services->snapshots.take(who.organization, snapshot))
                 forget_at_place(*services, *gone);
               answers->done(std::move(answers->all));
             });
  };
  tell<taken_snapshot>(who, id, std::move(taken), snapshot_v,
                       snapshot_order{{}, true});
}

} // namespace troupe
