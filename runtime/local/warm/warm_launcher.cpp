#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <algorithm>

namespace troupe::zygote {

namespace {

using clock = warm_run::clock;

/// What a cold start would carry out the same way.
bool fits(const interpreter_paths& paths, const launch& what) {
  const auto& run = *what.run;
  // A slot's uid would not own it: only the warden maps mounts.
  if (std::ranges::any_of(what.shown,
                          &warden::start_order::mount_source::writable))
    return false;
  const bool has_venv = !run.venv.empty();
  return what.is_runner && !what.in && what.channel
    && has_venv == paths.for_venvs && (has_venv || run.interpreter.empty())
    && (run.lang == language::python) == (paths.family == family::python);
}

} // namespace

warm_launcher::impl::impl(boost::asio::any_io_executor strand,
                          zygote_options options, paths where,
                          std::shared_ptr<slot_provisioner> makers,
                          std::weak_ptr<launcher> otherwise)
    : strand_{strand}, options_{std::move(options)}, where_{std::move(where)},
      provisioner_{std::move(makers)}, otherwise_{std::move(otherwise)},
      zygotes_{std::make_shared<zygote_lifecycle>(strand, options_, where_,
                                                  provisioner_)},
      maker_{std::make_shared<slot_maker>(strand, provisioner_, zygotes_)},
      watchdog_{std::make_shared<slot_watchdog>(strand, options_.kill_grace,
                                                options_.make_within)},
      prefork_{std::make_shared<prefork>(strand, options_, pool_,
                                         [this] { return load(); })},
      early_{options_.early_result}, evict_timer_{strand} {}

/// Most tools are Python without a venv; who never runs anything else shall not
/// pay for it.
void warm_launcher::impl::begin() {
  const auto told = [weak = weak_from_this()](auto what) {
    return [weak, what](const auto&... about) {
      if (auto self = weak.lock())
        what(*self, about...);
    };
  };
  zygotes_->listen({
    .ready = told([](impl& self) { self.make_for_waiting(); }),
    .lost = told([](impl& self, const std::string& why) {
      while (const auto run = self.waiting_.take_any())
        self.fail(run, why);
    }),
    .slot_born
    = told([](impl& self, const slot_ptr& s) { self.on_slot_whole(s); }),
    .slot_failed = told([](impl& self, const slot_ptr& s, const error& why) {
      self.on_slot_failed(s, why);
    }),
    .slot_retired = told([](impl& self, const slot_ptr& s) {
      if (s->now == slot::state::idle || s->now == slot::state::preforked)
        self.destroy(s);
    }),
  });
  maker_->listen({
    .ordered = told([](impl& self, const slot_ptr& s) { self.on_ordered(s); }),
    .failed
    = told([](impl& self, const std::string& key, const std::string& why) {
        self.on_not_coming(key, why);
      }),
  });
  if (where_.family == family::python && !where_.for_venvs)
    zygotes_->open();
}

bool warm_launcher::impl::accepts(const launch& what) {
  if (stopped_ || !fits(where_, what))
    return false;
  zygotes_->open(); // if this is the first of its kind, for those to come
  if (!zygotes_->is_ready())
    return false;
  // A host that has no room for another slot may still have room for a
  // process; beyond that the backend's own queue is the bound.
  return has_room() || pool_.has_free(what.slot_key) || pool_.coldest_free();
}

void warm_launcher::impl::start(launch what, carrier_events events) {
  auto run = std::make_shared<warm_run>();
  run->what = std::move(what);
  run->events = std::move(events);
  runs_[run->what.run->id] = run;
  if (stopped_ || !zygotes_->is_ready())
    return fail(run, "the local backend stops");
  while (auto s = pool_.take(run->key())) {
    if (s->has_network_left())
      return begin(run, s);
    destroy(s);
  }
  waiting_.add(run);
  make_for_waiting();
}

void warm_launcher::impl::begin(const warm_run_ptr& run, const slot_ptr& s) {
  run->on = s;
  run->was_preforked = s->now == slot::state::preforked;
  running_[s->ticket()] = run;
  auto& what = run->what;
  const bool sent = s->run(run->cpu_seconds(),
                           early_.is_wanted(*s, load()) ? report_early : 0u,
                           what.out.get(), what.err.get(), what.channel.get());
  s->now = slot::state::running;
  s->since = clock::now();
  ++s->runs;
  ++totals_.runs;
  totals_.preforked_runs += run->was_preforked ? 1u : 0u;
  zygotes_->count_run(*s);
  what.out.reset();
  what.err.reset();
  what.channel.reset();
  watch();
  if (s->is_single_use())
    make_spares(*run);
  if (prefork_->on_run(run->key()) && has_room())
    make_slot(what);
  if (sent && run->events.started)
    run->events.started();
  // Not sent: the slot is dead, and its end of file tells the rest.
}

/// Null: it was lost, or killed from outside, or answered before.
warm_run_ptr warm_launcher::impl::take_running(const slot& s) {
  const auto found = running_.find(s.ticket());
  if (found == running_.end())
    return nullptr;
  auto run = std::move(found->second);
  running_.erase(found);
  return run;
}

void warm_launcher::impl::on_early_result(slot& s, const packet& in) {
  const auto run = take_running(s);
  if (!run)
    return;
  ++totals_.early_results;
  early_.begin(s);
  end(run, read_exit(*run, in, s));
}

void warm_launcher::impl::on_exited(slot& s, const packet& in) {
  const auto run = take_running(s);
  const auto self = pool_.find(s.ticket());
  early_.end(s);
  const bool is_clean = (in.flags & clean) != 0;
  if (!run) // or a waiting child died before its run came
    return free_slot(self, is_clean && s.now != slot::state::preforked);
  auto ending = read_exit(*run, in, s);
  // The waiting child was dead already. The order must not reach the next.
  const bool unread = run->was_preforked && s.has_unread_run();
  if (unread)
    ending.start_failure = "the waiting process died";
  free_slot(self, is_clean && !unread);
  end(run, std::move(ending));
}

void warm_launcher::impl::end(const warm_run_ptr& run, process_exit ending) {
  runs_.erase(run->what.run->id);
  run->on.reset();
  if (auto ended = std::move(run->events.ended))
    ended(std::move(ending));
}

/// It never began, and for no fault of its own.
void warm_launcher::impl::fail(const warm_run_ptr& run, std::string why) {
  if (auto other = otherwise_.lock(); other && !run->kill_asked && !stopped_) {
    runs_.erase(run->what.run->id);
    return other->start(std::move(run->what), std::move(run->events));
  }
  end(run, unstarted_exit(*run, std::move(why)));
}

void warm_launcher::impl::kill(const run_id& id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) {
    if (auto other = otherwise_.lock())
      other->kill(id);
    return;
  }
  const auto run = found->second;
  run->kill_asked = true;
  if (run->on) {
    run->kill_by = std::min(run->kill_by, clock::now() + options_.kill_grace);
    watch();
    return run->on->kill();
  }
  waiting_.remove(run);
  fail(run, "killed before it began");
}

void warm_launcher::impl::stop() {
  stopped_ = true;
  prefork_->stop();
  evict_timer_.cancel();
  std::vector<run_id> ids;
  for (const auto& [id, run] : runs_)
    ids.push_back(id);
  for (const auto& id : ids)
    kill(id);
  for (const auto& s : pool_.all())
    if (s->now != slot::state::running)
      destroy(s);
  zygotes_->stop();
}

slot_counts warm_launcher::impl::counts() const {
  auto now = totals_;
  now.slots = pool_.size();
  now.idle = pool_.count(slot::state::idle);
  now.preforked = pool_.preforked();
  now.running = running_.size();
  zygotes_->add_to(now);
  return now;
}

warm_launcher::warm_launcher(boost::asio::any_io_executor strand,
                             zygote_options options, paths where,
                             std::shared_ptr<slot_provisioner> makers,
                             std::weak_ptr<launcher> otherwise)
    : impl_{std::make_shared<impl>(std::move(strand), std::move(options),
                                   std::move(where), std::move(makers),
                                   std::move(otherwise))} {
  impl_->begin();
}

warm_launcher::~warm_launcher() {
  impl_->stop();
}

bool warm_launcher::accepts(const launch& what) const {
  return impl_->accepts(what);
}
void warm_launcher::start(launch what, carrier_events events) {
  impl_->start(std::move(what), std::move(events));
}
void warm_launcher::kill(const run_id& id) {
  impl_->kill(id);
}
void warm_launcher::stop() {
  impl_->stop();
}
slot_counts warm_launcher::counts() const {
  return impl_->counts();
}
bool warm_launcher::has_failed() const {
  return impl_->has_failed();
}

} // namespace troupe::zygote
