#include "actors/ledger.hpp"

#include "runtime/digest.hpp"
#include "runtime/model/codec.hpp"

#include <algorithm>
#include <thread>

namespace troupe {

namespace {

constexpr auto tidy_interval = std::chrono::minutes{10}; // keys live for hours
/// Lines in one write: some 0.2 ms, then others get their turn. On few cores a
/// longer one keeps a dispatcher, and all of its runs, from going on.
constexpr std::size_t piece = 64;

void enter(ledger_line& line, journal_entry& entry) {
  entry.audit = line.audit;
  if (!line.run) {
    entry.organization = std::move(line.organization);
    return;
  }
  const auto& run = *line.run;
  entry.run.emplace(describe(run));
  entry.organization = run.who.organization;
  if (line.key != key_fate::none) {
    key_claim claim;
    claim.organization = run.who.organization;
    claim.key = run.idempotency_key;
    claim.run = run.id;
    (line.key == key_fate::settle ? entry.settle : entry.release)
      = std::move(claim);
  }
}

} // namespace

void ledger_state::flush(bool now) {
  if (now)
    return write();
  if (!std::exchange(flush_armed, true))
    self->delayed_send(self, context->options.ledger.coalesce, done_v);
}

void ledger_state::write() {
  auto all = context->to_ledger.drain(lines);
  if (all.empty())
    return;
  auto is_waited_for = [](const auto& w) { return static_cast<bool>(w.kept); };
  const bool someone_waits = std::any_of(all.begin(), all.end(), is_waited_for);
  result<void> written;
  for (std::size_t at = 0; at < all.size(); at += piece) {
    if (at > 0)
      std::this_thread::yield();
    auto ok = write(all.subspan(at, std::min(piece, all.size() - at)));
    if (!ok)
      written = std::move(ok);
  }
  if (someone_waits && written)
    written = books->sync();
  else if (!std::exchange(sync_armed, true))
    self->delayed_send(self, context->options.ledger.sync_after, kept_v);
  for (auto& line : all) {
    if (line.kept)
      std::exchange(line.kept, {})(written.has_value());
    line.line.run.reset(); // the text goes where it came from
  }
}

result<void> ledger_state::write(std::span<ledger_queue::waiting> some) {
  for (auto& waiting : some)
    enter(waiting.line, entries.emplace_back());
  auto written = books->write(entries);
  entries.clear();
  if (!written) {
    meters::add(context->meter.lines_lost, some.size());
    context->report("ledger could not write " + std::to_string(some.size())
                    + " lines: " + to_string(written.error()));
  }
  return written;
}

void ledger_state::sync() {
  if (!std::exchange(sync_armed, false))
    return;
  if (auto ok = books->sync(); !ok)
    context->report("ledger could not sync its store: "
                    + to_string(ok.error()));
}

void ledger_state::claim(const live_run_ptr& run) {
  const auto request = run->request();
  if (!request)
    return; // it ended before its turn came: it must not keep the key
  key_claim wanted;
  wanted.organization = run->who.organization;
  wanted.key = run->idempotency_key;
  wanted.digest = request_digest(*request);
  wanted.run = run->id;
  // What ended a moment ago may still wait to be written.
  write();
  claim_reply reply;
  reply.run = run;
  auto refuse = [&](error why) {
    reply.failure = std::make_shared<const error>(std::move(why));
  };
  auto found = books->claim(wanted, describe(*run));
  if (!found) {
    refuse(found.error());
  } else {
    switch (found->what) {
    case claim_outcome::kind::mine:
      reply.fresh = true;
      break;
    case claim_outcome::kind::running:
      refuse({ec::conflict,
              "a request with this idempotency key is still "
              "running as "
                + found->run.str()});
      break;
    case claim_outcome::kind::ended:
      reply.replay = found->result;
      if (found->failure)
        refuse(*found->failure);
      else if (!found->result)
        refuse({ec::timeout,
                "the run of this idempotency key, " + found->run.str()
                  + ", ended but its answer is not known; it may "
                    "have run"});
      break;
    }
  }
  if (auto home = caf::actor_cast<dispatcher_actor>(self->current_sender()))
    self->send<caf::message_priority::high>(home, claim_v, std::move(reply));
}

caf::result<run_note> ledger_state::find(const run_reference& which) {
  write(); // so that what was said is found
  auto found
    = books->find_run(organization_id{which.organization}, run_id{which.id});
  if (!found)
    return to_caf(std::move(found.error()));
  if (!*found)
    return to_caf({ec::not_found, "there is no run " + which.id});
  return to_note(**found);
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
  // The text holds secrets; only its hash leaves this function.
  auto text = json::to_canonical(to_wire(same));
  auto digest = hex(sha256(text));
  wipe(text.data(), text.size());
  return digest;
}

ledger_actor::behavior_type
ledger(ledger_actor::stateful_pointer<ledger_state> self, context_ptr context,
       std::shared_ptr<journal> books) {
  auto& state = self->state;
  state.self = self;
  state.context = std::move(context);
  state.books = std::move(books);
  // What came while there was no ledger.
  self->send(self, flush_v, true);
  self->delayed_send(self, tidy_interval, tick_v);
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.write();
    self->state.sync();
    self->quit(std::move(m.reason));
  });
  return {
    [self](flush_atom, bool now) { self->state.flush(now); },
    [self](claim_atom, const live_run_ptr& run) { self->state.claim(run); },
    [self](done_atom) {
      self->state.flush_armed = false;
      self->state.write();
    },
    [self](kept_atom) { self->state.sync(); },
    [self](tick_atom) {
      if (auto ok = self->state.books->tidy(); !ok)
        self->state.context->report("ledger could not tidy up: "
                                    + to_string(ok.error()));
      self->delayed_send(self, tidy_interval, tick_v);
    },
    [self](find_atom, const run_reference& which) {
      return self->state.find(which);
    },
    [self](list_atom, const run_list_order& order) -> caf::result<run_list> {
      self->state.write();
      auto found = self->state.books->list_runs(order.organization, order.after,
                                                order.limit);
      if (!found)
        return to_caf(std::move(found.error()));
      return run_list{
        std::make_shared<const page<run_record>>(std::move(*found))};
    },
    [self](list_atom,
           const audit_list_order& order) -> caf::result<audit_list> {
      self->state.write();
      auto found = self->state.books->list_audit(order.organization,
                                                 order.after, order.limit);
      if (!found)
        return to_caf(std::move(found.error()));
      return audit_list{
        std::make_shared<const page<audit_entry>>(std::move(*found))};
    },
  };
}

} // namespace troupe
