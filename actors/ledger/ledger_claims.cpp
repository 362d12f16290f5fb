#include "actors/ledger/ledger.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

key_claim claim_of(const active_run& run) {
  key_claim claim;
  claim.organization = run.who.organization;
  claim.key = run.idempotency_key;
  claim.run = run.id;
  return claim;
}

void ledger_state::claim(const active_run_ptr& run) {
  auto home = caf::actor_cast<dispatcher_actor>(self->current_sender());
  if (!home)
    return; // nobody to answer
  claims.push(run->who.organization, 0, 1, {run, std::move(home)});
  if (!std::exchange(claims_armed, true))
    self->send(self, claim_v);
}

/// Organizations take turns, and some claims share one sync: many keys of one
/// organization hold up nobody else.
void ledger_state::claim_some() {
  write(); // what ended a moment ago may still wait to be written
  std::vector<std::pair<dispatcher_actor, key_claim_result>> decided;
  bool any_fresh = false;
  while (decided.size() < batch_entries) {
    auto next = claims.pop([](const auto&) { return true; });
    if (!next)
      break;
    auto reply = decide(next->run);
    if (!reply)
      continue;
    any_fresh = any_fresh || reply->fresh;
    decided.emplace_back(std::move(next->home), std::move(*reply));
  }
  const auto synced = any_fresh ? journal->sync() : result<void>{};
  for (auto& [home, reply] : decided) {
    if (reply.fresh && !synced) {
      release_claim(*reply.run);
      reply.fresh = false;
      reply.failure = std::make_shared<const error>(synced.error());
    }
    self->send<caf::message_priority::high>(home, claim_v, std::move(reply));
  }
  claims_armed = claims.size() > 0;
  if (claims_armed)
    self->send(self, claim_v);
}

/// Nothing for a run that has ended meanwhile: it must not keep the key.
std::optional<key_claim_result>
ledger_state::decide(const active_run_ptr& run) {
  const auto request = run->request();
  if (!request)
    return {};
  auto wanted = claim_of(*run);
  wanted.digest = request_digest(*request);
  key_claim_result reply;
  reply.run = run;
  auto refuse = [&](error why) {
    reply.failure = std::make_shared<const error>(std::move(why));
    return reply;
  };
  run->recorded = true;
  auto begun = describe(*run);
  if (bytes_of(*request) <= rules.request_bytes)
    begun.request = stored_form_of(*request);
  auto found = journal->claim(wanted, begun);
  if (!found)
    return refuse(std::move(found.error()));
  switch (found->what) {
  case claim_outcome::kind::mine:
    // Its line that gives the key back may have been written before.
    if (run->phase == run_phase::ended) {
      release_claim(*run);
      return {};
    }
    reply.fresh = true;
    return reply;
  case claim_outcome::kind::running:
    return refuse({ec::conflict,
                   "a request with this idempotency key is still running as "
                     + found->run.str()});
  case claim_outcome::kind::ended:
    break;
  }
  if (!found->result && !found->failure)
    return refuse({ec::timeout,
                   "the run of this idempotency key, " + found->run.str()
                     + ", ended but its answer is not known; it may have run"});
  auto record = journal->find_run(wanted.organization, found->run);
  run_record before;
  if (record && *record)
    before = std::move(**record);
  before.id = found->run;
  before.organization = wanted.organization;
  before.phase = run_phase::ended;
  before.result = std::move(found->result);
  before.failure = std::move(found->failure);
  reply.before = std::make_shared<const run_record>(std::move(before));
  return reply;
}

void ledger_state::release_claim(const active_run& run) {
  journal_entry entry;
  entry.release = claim_of(run);
  if (auto ok = journal->write({&entry, 1}); !ok)
    warn("ledger could not release an idempotency key: "
         + to_string(ok.error()));
}

std::string request_digest(const run_request& request) {
  auto same = request;
  same.id = run_id{};
  same.user = user_id{};
  same.idempotency_key.clear();
  same.traceparent.clear();
  same.deadline = {};
  same.priority = 0;
  same.labels.clear();
  // Tree and text hold secrets; only a hash leaves this function.
  json::value tree = to_wire(same);
  auto text = json::to_canonical(tree);
  json::wipe_texts(tree);
  auto digest = hex(sha256(text));
  wipe(text);
  return digest;
}

} // namespace troupe
