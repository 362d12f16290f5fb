#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <algorithm>
#include <csignal>

namespace troupe::zygote {

namespace {
using clock = std::chrono::steady_clock;
}

/// One slot for every waiting run that has none on its way, within bounds.
void slot_carrier::impl::make_for_waiting() {
  for (const auto& [key, jobs] : waiting_) {
    const auto made = starting_.find(key);
    const auto on_way
      = (made == starting_.end() ? 0 : made->second) + over(key);
    auto missing = jobs.size() - std::min(on_way, jobs.size());
    for (; missing > 0 && making_count_ < options_.max_making; --missing)
      if (!make_slot(*jobs.front()))
        return;
  }
}

/// A slot that serves once is gone when the next run comes: what that one needs
/// is made while this one runs, not while it waits. For each run at a time
/// some: most of the time that a slot takes, it waits for the kernel. Never at
/// the cost of a slot that exists.
void slot_carrier::impl::make_spares(const job& like) {
  const auto on_way = starting_.find(like.key);
  auto coming = pool_.free_count(like.key)
    + (on_way == starting_.end() ? 0 : on_way->second);
  const auto of_its_kind = static_cast<std::size_t>(std::ranges::count_if(
    running_, [&](const auto& r) { return r.second->key == like.key; }));
  const auto wanted
    = std::min<std::size_t>(options_.spares * of_its_kind, options_.max_making);
  for (; coming < wanted && making_count_ < options_.max_making && has_room();
       ++coming)
    if (!make_slot(like))
      return;
}

bool slot_carrier::impl::has_room() const {
  return pool_.size() + making_count_ < options_.max_slots;
}

void slot_carrier::impl::no_longer_making(const std::string& key) {
  --making_count_;
  if (const auto of = starting_.find(key); --of->second == 0)
    starting_.erase(of);
}

bool slot_carrier::impl::make_slot(const job& wanted) {
  if (!current_)
    return false;
  if (!has_room()) {
    const auto victim = pool_.coldest_free();
    if (!victim)
      return false; // one will be free again
    destroy(victim);
  }
  ++making_count_;
  ++starting_[wanted.key];
  provisioner_->prepare(
    wanted.what,
    [weak = weak_from_this(), key = wanted.key](result<ground> on) {
      if (auto self = weak.lock())
        self->on_ground(key, std::move(on));
    });
  return true;
}

void slot_carrier::impl::on_ground(std::string key, result<ground> on) {
  const auto give_up = [&](const std::string& why) {
    no_longer_making(key);
    if (auto j = next_waiting(key))
      fail(j, why);
    make_for_waiting();
  };
  if (!on)
    return give_up(on.error().text);
  if (!current_) {
    provisioner_->release(on->ticket, {});
    return give_up("the interpreter died");
  }
  const auto home = current_;
  auto s = std::make_shared<slot>(strand_, key, std::move(*on));
  if (auto made = home->make(s); !made) {
    provisioner_->release(s->ticket(), {});
    return give_up(made.error().text);
  }
  watch_soon();
  pool_.add(s);
  home_[s->ticket()] = home;
  ++home->slots;
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

void slot_carrier::impl::on_slot_failed(const slot_ptr& s, const error& why) {
  if (s->now != slot::state::making)
    return;
  const auto key = s->key();
  destroy(s);
  ++totals_.replaced;
  if (auto j = next_waiting(key))
    fail(j, why.text);
  make_for_waiting();
}

/// Perhaps: a slot with a network needs its zygote's word as well.
void slot_carrier::impl::on_slot_whole(const slot_ptr& s) {
  if (s->now != slot::state::making || !s->is_complete())
    return;
  if (auto connected = s->connect(); !connected)
    return on_slot_failed(s, connected.error());
  no_longer_making(s->key());
  s->now = slot::state::idle;
  free_slot(s, true);
  make_for_waiting();
}

void slot_carrier::impl::on_packet(slot& s, const packet& in) {
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
void slot_carrier::impl::on_slot_end(slot& s) {
  const auto self = pool_.find(s.ticket());
  if (!self)
    return;
  if (s.now == slot::state::making)
    return on_slot_failed(self,
                          unavailable("the slot died while it was created"));
  const auto found = running_.find(s.ticket());
  const auto j = found == running_.end() ? nullptr : found->second;
  if (j)
    running_.erase(found);
  ++totals_.replaced;
  process_exit ending;
  ending.isolation = s.on().report;
  ending.add(s.end_network());
  if (!j) {
    destroy(self);
    return make_for_waiting();
  }
  ending.killed = j->kill_asked;
  ending.cpu_exceeded = j->cpu_exceeded;
  // With cgroup v2 the kernel kills a group as a whole, our slot included.
  ending.memory_exceeded = s.ran_out_of_memory();
  ending.lost = !j->kill_asked && !ending.memory_exceeded;
  ending.wait_status = SIGKILL;
  ending.wall = std::chrono::duration_cast<std::chrono::microseconds>(
    clock::now() - j->begun);
  // Its socket closes before the last of its processes is dead; the word that
  // nothing is left comes from the ground.
  destroy(self, [weak = weak_from_this(), j, ending]() mutable {
    if (auto self = weak.lock())
      self->end(j, std::move(ending));
  });
  make_for_waiting();
}

/// A slot has nothing to do. It serves its key again if nothing is left in
/// it, else it goes, and a new one is made when somebody waits.
void slot_carrier::impl::free_slot(const slot_ptr& s, bool is_clean) {
  if (!s)
    return;
  const auto home = home_.find(s->ticket());
  const bool old = home == home_.end() || home->second->retiring;
  const bool used_up = s->runs > 0 && s->is_single_use();
  const bool usable
    = is_clean && !used_up && !stopped_ && s->has_network_left();
  if (usable)
    if (auto j = next_waiting(s->key()))
      return begin(j, s); // of an old interpreter, too: it waits for nothing
  if (!usable || old) {
    totals_.replaced += is_clean ? 0u : 1u;
    destroy(s);
    return make_for_waiting();
  }
  pool_.rest(s);
  last_rest_ = s->since;
  arm_soon();
  if (!evicting_)
    evict_idle();
}

void slot_carrier::impl::destroy(const slot_ptr& s,
                                 std::function<void()> gone) {
  if (s->now == slot::state::making)
    no_longer_making(s->key());
  no_longer_over(*s);
  pool_.remove(*s);
  s->now = slot::state::dead;
  s->close();
  provisioner_->release(s->ticket(), std::move(gone));
  const auto home = home_.find(s->ticket());
  if (home == home_.end())
    return;
  const auto z = home->second;
  home_.erase(home);
  z->forget(*s);
  --z->slots;
  close_if_empty(z);
}

/// Lets go of slots that nobody used for a while, checking at half that time.
void slot_carrier::impl::evict_idle() {
  evicting_ = true;
  evict_timer_.expires_after(options_.idle_slot / 2);
  evict_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      auto self = weak.lock();
      if (bad || !self)
        return;
      for (const auto& s :
           self->pool_.unused_since(clock::now() - self->options_.idle_slot))
        self->destroy(s);
      self->evicting_ = false;
      if (self->pool_.size() > 0)
        self->evict_idle();
    });
}

void slot_carrier::impl::arm_soon() {
  if (options_.armed <= pool_.warm() || stopped_)
    return;
  // Moves the deadline on: it counts from the latest end of a run.
  arm_timer_.expires_after(options_.arm_after);
  arm_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->arm_now();
    });
}

void slot_carrier::impl::arm_now() {
  if (!running_.empty() || waiting_count_ > 0 || stopped_)
    return; // the end of that run will ask again
  while (pool_.warm() < options_.armed) {
    const auto s = pool_.warmest_not_warm();
    if (!s)
      return;
    if (s->now == slot::state::idle) {
      if (!s->arm())
        return;
      pool_.arm(s);
    }
    s->is_warm = s->warm();
    if (!s->is_warm)
      return;
  }
}

} // namespace troupe::zygote
