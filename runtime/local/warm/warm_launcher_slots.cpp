// Which slots there are: when they are made, used again, and let go.
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <algorithm>

namespace troupe::zygote {

/// One slot for every waiting run that has none on its way, within bounds.
void warm_launcher::impl::make_for_waiting() {
  for (const auto& key : waiting_.keys()) {
    const auto on_way = maker_->count(key) + early_.count(pool_, key);
    const auto waiting = waiting_.count(key);
    for (auto missing = waiting - std::min(on_way, waiting);
         missing > 0 && maker_->count() < options_.max_making; --missing) {
      const auto run = waiting_.first(key); // each failure takes one away
      if (!run)
        break;
      if (!make_slot(run->what))
        return;
    }
  }
}

/// A slot that serves once is gone when the next run comes: what that one needs
/// is made while this one runs, not while it waits. For each run at a time
/// some: most of the time that a slot takes, it waits for the kernel. Never at
/// the cost of a slot that exists.
void warm_launcher::impl::make_spares(const warm_run& like) {
  auto coming = pool_.free_count(like.key()) + maker_->count(like.key());
  const auto of_its_kind = static_cast<std::size_t>(std::ranges::count_if(
    running_, [&](const auto& r) { return r.second->key() == like.key(); }));
  const auto wanted
    = std::min<std::size_t>(options_.spares * of_its_kind, options_.max_making);
  for (; coming < wanted && maker_->count() < options_.max_making && has_room();
       ++coming)
    if (!make_slot(like.what))
      return;
}

bool warm_launcher::impl::has_room() const {
  return pool_.size() + maker_->count() < options_.max_slots;
}

bool warm_launcher::impl::make_slot(const launch& like) {
  if (!zygotes_->is_ready())
    return false;
  if (!has_room()) {
    const auto victim = pool_.coldest_free();
    if (!victim)
      return false; // one will be free again
    destroy(victim);
  }
  maker_->make(like);
  return true;
}

void warm_launcher::impl::on_not_coming(const std::string& key,
                                        const std::string& why) {
  if (const auto run = waiting_.take(key))
    fail(run, why);
  make_for_waiting();
}

void warm_launcher::impl::on_ordered(const slot_ptr& s) {
  watch();
  pool_.add(s);
  s->listen(
    [weak = weak_from_this()](slot& from, const packet& in) {
      if (auto self = weak.lock())
        self->on_packet(from, in);
    },
    [weak = weak_from_this()](slot& from) {
      if (auto self = weak.lock())
        self->on_slot_end(from);
    });
}

void warm_launcher::impl::on_slot_failed(const slot_ptr& s, const error& why) {
  if (s->now != slot::state::making)
    return;
  const auto key = s->key();
  destroy(s);
  ++totals_.replaced;
  on_not_coming(key, why.text);
}

/// Perhaps: a slot with a network needs its zygote's word as well.
void warm_launcher::impl::on_slot_whole(const slot_ptr& s) {
  if (s->now != slot::state::making || !s->is_complete())
    return;
  if (auto connected = s->connect(); !connected)
    return on_slot_failed(s, connected.error());
  maker_->done(s->key());
  s->now = slot::state::idle;
  free_slot(s, true);
  make_for_waiting();
}

void warm_launcher::impl::on_packet(slot& s, const packet& in) {
  const auto self = pool_.find(s.ticket());
  if (!self)
    return;
  switch (in.what) {
  case word::slot_ready:
    s.set_ready(in.listener);
    return on_slot_whole(self);
  case word::slot_failed:
    return on_slot_failed(self, describe(in));
  case word::over:
    return on_early_result(s, in);
  case word::exited:
    return on_exited(s, in);
  default:
    return; // not a word of a slot
  }
}

/// End of file: the slot is dead, and everything that was in it dies.
void warm_launcher::impl::on_slot_end(slot& s) {
  const auto self = pool_.find(s.ticket());
  if (!self)
    return;
  if (s.now == slot::state::making)
    return on_slot_failed(self,
                          unavailable("the slot died while it was created"));
  ++totals_.replaced;
  const auto run = take_running(s);
  if (!run) {
    destroy(self);
    return make_for_waiting();
  }
  // Its socket closes before the last of its processes is dead; that nothing
  // is left, its sandbox tells.
  destroy(
    self,
    [weak = weak_from_this(), run, ending = exit_with_slot(*run, s)]() mutable {
      if (auto self = weak.lock())
        self->end(run, std::move(ending));
    });
  make_for_waiting();
}

/// A slot has nothing to do. It serves its key again if nothing is left in
/// it, else it goes, and a new one is made when a run waits.
void warm_launcher::impl::free_slot(const slot_ptr& s, bool is_clean) {
  if (!s)
    return;
  const bool used_up = s->runs > 0 && s->is_single_use();
  const bool usable
    = is_clean && !used_up && !stopped_ && s->has_network_left();
  if (usable)
    if (const auto run = waiting_.take(s->key()))
      return begin(run, s); // of an old interpreter, too: it waits for nothing
  if (!usable || zygotes_->is_retired(*s)) {
    totals_.replaced += is_clean ? 0u : 1u;
    destroy(s);
    return make_for_waiting();
  }
  pool_.rest(s);
  prefork_->on_rest(*s);
  if (!evicting_)
    evict_idle();
}

void warm_launcher::impl::destroy(const slot_ptr& s,
                                  std::function<void()> gone) {
  if (s->now == slot::state::making)
    maker_->done(s->key());
  early_.end(*s);
  pool_.remove(*s);
  s->now = slot::state::dead;
  s->close();
  provisioner_->release(s->ticket(), std::move(gone));
  zygotes_->release(*s);
}

/// Lets go of slots that were not used for a while, checking at half that time.
void warm_launcher::impl::evict_idle() {
  evicting_ = true;
  evict_timer_.expires_after(options_.idle_slot / 2);
  evict_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      auto self = weak.lock();
      if (bad || !self)
        return;
      for (const auto& s : self->pool_.unused_since(warm_run::clock::now()
                                                    - self->options_.idle_slot))
        self->destroy(s);
      self->evicting_ = false;
      if (self->pool_.size() > 0)
        self->evict_idle();
    });
}

// -- from the watchdog

std::vector<warm_run_ptr> warm_launcher::impl::running() const {
  std::vector<warm_run_ptr> all;
  for (const auto& [ticket, run] : running_)
    all.push_back(run);
  return all;
}

bool warm_launcher::impl::is_quiet() const {
  return running_.empty() && maker_->count() + early_.count() == 0;
}

void warm_launcher::impl::on_cpu_exceeded(const warm_run& run) {
  kill(run.what.run->id);
}

void warm_launcher::impl::on_kill_ignored(const warm_run& run) {
  if (run.on)
    provisioner_->release(run.on->ticket(), {});
}

/// The kernel takes long; all of it is killed once more, and the slot given up.
void warm_launcher::impl::on_still_there(const slot_ptr& s) {
  ++totals_.replaced;
  destroy(s);
  make_for_waiting();
}

void warm_launcher::impl::on_not_made(const slot_ptr& s) {
  zygotes_->give_up(*s);
}

} // namespace troupe::zygote
