#include "actors/ledger.hpp"

#include "runtime/digest.hpp"
#include "runtime/model/codec.hpp"

namespace troupe {

namespace {

constexpr auto tidy_interval = std::chrono::minutes{10}; // keys live for hours
constexpr std::size_t usual_lines = 4'096;               // in one write

void enter(ledger_line&& line, journal_entry& entry) {
  entry.audit = std::move(line.audit);
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
    claim.key = run.request->idempotency_key;
    claim.run = run.id;
    (line.key == key_fate::settle ? entry.settle : entry.release)
      = std::move(claim);
  }
}

} // namespace

void ledger_state::flush(bool now) {
  if (now)
    return write();
  if (std::exchange(armed, true))
    return;
  // Nobody waits: a run that ends meanwhile is written once instead of twice.
  self->delayed_send(self, context->options.ledger.coalesce, flush_v, true);
}

void ledger_state::write() {
  armed = false;
  context->to_ledger.drain(lines);
  if (lines.empty())
    return;
  bool someone_waits = false;
  for (auto& waiting : lines) {
    someone_waits = someone_waits || waiting.kept;
    enter(std::move(waiting.line), entries.emplace_back());
  }
  auto written = books->write(entries, someone_waits);
  entries.clear();
  if (!written) {
    meters::add(context->meter.lines_lost, lines.size());
    context->report("ledger could not write " + std::to_string(lines.size())
                    + " lines: " + to_string(written.error()));
  }
  for (auto& line : lines)
    if (line.kept)
      line.kept(written.has_value());
  lines.clear();
  if (entries.capacity() > usual_lines) { // a flood is over
    entries.shrink_to_fit();
    lines.shrink_to_fit();
  }
}

void ledger_state::claim(const live_run_ptr& run) {
  const auto& request = *run->request;
  key_claim wanted;
  wanted.organization = run->who.organization;
  wanted.key = request.idempotency_key;
  wanted.digest = request_digest(request);
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
    self->send(home, claim_v, std::move(reply));
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
    self->quit(std::move(m.reason));
  });
  return {
    [self](flush_atom, bool now) { self->state.flush(now); },
    [self](claim_atom, const live_run_ptr& run) { self->state.claim(run); },
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
