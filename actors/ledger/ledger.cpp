#include "actors/ledger/ledger.hpp"

#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <thread>

namespace troupe {

namespace {

constexpr auto sweep_interval = std::chrono::minutes{1};
constexpr auto pause_after_failure = std::chrono::milliseconds{250};

void enter(ledger_entry& line, journal_entry& entry) {
  entry.audit = line.audit;
  if (!line.run) {
    entry.organization = line.organization;
    return;
  }
  auto& run = *line.run;
  entry.run.emplace(describe(run));
  if (line.request)
    entry.run->request = stored_form_of(*line.request);
  entry.fresh = !std::exchange(run.recorded, true);
  entry.organization = run.who.organization;
  if (line.key != key_disposition::none)
    (line.key == key_disposition::settle ? entry.settle : entry.release)
      = claim_of(run);
}

} // namespace

std::shared_ptr<const secret> stored_form_of(const run_request& request) {
  json::value tree = to_wire(request);
  auto text = std::make_shared<const secret>(json::to_canonical(tree));
  json::wipe_texts(tree);
  return text;
}

ledger_services::ledger_services(const context_ptr& engine)
    : services{engine}, rules{engine->options.ledger},
      report{[engine](std::string_view line) { engine->report(line); }},
      warn{[engine](std::string_view line) { engine->warn(line); }} {}

void ledger_state::flush(bool now) {
  if (now)
    return write();
  if (!std::exchange(flush_armed, true))
    self->delayed_send(self, rules.coalesce, done_v);
}

void ledger_state::write() {
  // What another ledger left, or the store did not take, goes first.
  if (!services->to_ledger.has_rest() || write_taken()) {
    write_taken();
    return;
  }
  for (auto& told : services->to_ledger.take_waiters())
    told(false);
}

/// Whether nothing is left of what was taken.
bool ledger_state::write_taken() {
  const auto all = services->to_ledger.take();
  if (all.empty())
    return true;
  const auto left = write_all(all);
  answer(all.subspan(left), all.first(left));
  services->to_ledger.settle(left);
  if (left > 0 && !std::exchange(flush_armed, true))
    self->delayed_send(self, pause_after_failure, done_v);
  return left == 0;
}

/// How many are left to be written; these come first then.
std::size_t ledger_state::write_all(lines all) {
  std::size_t left = 0;
  for (std::size_t at = 0; at < all.size(); at += batch_entries) {
    if (at > 0)
      std::this_thread::yield();
    const auto some = all.subspan(at, std::min(batch_entries, all.size() - at));
    const auto written = write(some);
    if (written) {
      drop_entries(all.first(std::exchange(left, 0)));
      continue;
    }
    const auto before = left;
    left = write_each(all, some, left);
    report_failure(written, left);
    if (left < before + some.size())
      continue;
    for (auto& later : all.subspan(at + some.size()))
      std::swap(all[left++], later); // the store is ill: they need not try
    return left;
  }
  if (left == 0)
    report_failure({}, 0);
  return left;
}

/// One of them may be at fault: alone it holds up nobody else.
std::size_t ledger_state::write_each(lines all, lines some, std::size_t left) {
  for (auto& one : some)
    if (write({&one, 1}))
      // A store that takes a later one is well, so it is they.
      drop_entries(all.first(std::exchange(left, 0)));
    else
      std::swap(all[left++], one);
  return left;
}

result<void> ledger_state::write(lines some) {
  for (auto& waiting : some)
    enter(waiting.line, entries.emplace_back());
  auto written = journal->write(entries);
  if (!written)
    for (std::size_t i = 0; i < some.size(); ++i)
      if (entries[i].audit.empty())
        some[i].line.audit.clear(); // the chain has it: not a second time
  entries.clear();
  return written;
}

/// The store works, but not for these.
void ledger_state::drop_entries(lines some) {
  if (some.empty())
    return;
  engine_metrics::add(services->metrics.lines_lost, some.size());
  warn("ledger dropped " + std::to_string(some.size())
       + " records that the store rejected");
  for (auto& line : some)
    if (line.kept)
      std::exchange(line.kept, {})(false);
}

void ledger_state::answer(lines written, lines left) {
  auto is_waited_for = [](const auto& w) { return static_cast<bool>(w.kept); };
  bool well = true;
  if (std::any_of(written.begin(), written.end(), is_waited_for))
    well = journal->sync().has_value();
  else if (!written.empty() && !std::exchange(sync_armed, true))
    self->delayed_send(self, rules.sync_after, kept_v);
  for (auto& line : written) {
    if (line.kept)
      std::exchange(line.kept, {})(well);
    line.line.run.reset(); // the text goes where it came from
    line.line.request.reset();
  }
  for (auto& line : left) // they are tried again, but nobody waits so long
    if (line.kept)
      std::exchange(line.kept, {})(false);
}

/// Once when it begins to fail, once when it is well again.
void ledger_state::report_failure(const result<void>& written,
                                  std::size_t left) {
  if (left > 0)
    engine_metrics::add(services->metrics.record_failures);
  services->record_fails = left > 0;
  services->disk_is_full
    = left > 0 && !written && written.error().code == ec::no_space;
  if (left > 0 && !std::exchange(failing, true))
    warn("ledger could not write " + std::to_string(left)
         + " records and will retry: " + to_string(written.error()));
  if (left == 0 && std::exchange(failing, false))
    report("ledger can write again");
}

void ledger_state::sync() {
  if (!std::exchange(sync_armed, false))
    return;
  if (auto ok = journal->sync(); !ok)
    warn("ledger could not sync its store: " + to_string(ok.error()));
}

void ledger_state::sweep() {
  if (auto ok = journal->sweep(); !ok)
    warn("ledger could not delete expired records: " + to_string(ok.error()));
  self->delayed_send(self, sweep_interval, tick_v);
}

// -- reading ------------------------------------------------------------------

caf::result<run_status_message> ledger_state::find(const run_reference& which) {
  write(); // so that what was said is found
  auto found
    = journal->find_run(organization_id{which.organization}, run_id{which.id});
  if (!found)
    return to_caf(std::move(found.error()));
  if (!*found)
    return to_caf({ec::not_found, "there is no run " + which.id});
  return to_note(**found);
}

ledger_actor::behavior_type
ledger(ledger_actor::stateful_pointer<ledger_state> self,
       ledger_services services, std::shared_ptr<troupe::journal> journal) {
  auto& state = self->state;
  state.self = self;
  static_cast<ledger_services&>(state) = std::move(services);
  state.journal = std::move(journal);
  // What came while there was no ledger.
  self->send(self, flush_v, true);
  self->delayed_send(self, sweep_interval, tick_v);
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.write();
    self->state.sync();
    self->quit(std::move(m.reason));
  });
  return {
    [self](flush_atom, bool now) { self->state.flush(now); },
    [self](claim_atom, const active_run_ptr& run) { self->state.claim(run); },
    [self](claim_atom) { self->state.claim_some(); },
    [self](done_atom) {
      self->state.flush_armed = false;
      self->state.write();
    },
    [self](kept_atom) { self->state.sync(); },
    [self](tick_atom) { self->state.sweep(); },
    [self](find_atom, const run_reference& which) {
      return self->state.find(which);
    },
    [self](list_atom, const run_list_query& order) -> caf::result<run_list> {
      self->state.write();
      auto found = self->state.journal->list_runs(order.organization,
                                                  order.after, order.limit);
      if (!found)
        return to_caf(std::move(found.error()));
      return run_list{
        std::make_shared<const page<run_record>>(std::move(*found))};
    },
    [self](list_atom,
           const audit_list_query& order) -> caf::result<audit_list> {
      self->state.write();
      auto found = self->state.journal->list_audit(order.organization,
                                                   order.after, order.limit);
      if (!found)
        return to_caf(std::move(found.error()));
      return audit_list{
        std::make_shared<const page<audit_entry>>(std::move(*found))};
    },
  };
}

} // namespace troupe
