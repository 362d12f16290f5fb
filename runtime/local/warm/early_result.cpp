// Buys: whoever waits for a run need not wait until the kernel has taken its
// process apart, which is pages and page tables: a third of the latency of a
// light tool. The slot kills the run's process when that says that it leaves,
// and sees that it was the only one there ever was
// (runtime/local/warm/process/sole_process.hpp): from then on no instruction of
// the tool is executed, and the answer is out. The slot serves nobody before
// the process is gone, as ever.
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <algorithm>
#include <thread>

namespace troupe::zygote {

/// Where several run at a time nothing is gained, since no processor waits for
/// work, and two words for each run are more work than one.
bool slot_carrier::impl::wants_early_word(const slot& s) const {
  static const bool has_another = std::thread::hardware_concurrency() > 1;
  return options_.early_word && has_another && running_.size() <= 1
    && waiting_count_ == 0 && s.on().report.level == isolation_level::standard;
}

void slot_carrier::impl::on_early_result(slot& s, const packet& in) {
  const auto found = running_.find(s.ticket());
  if (found == running_.end())
    return; // lost, or killed from outside, meanwhile
  const auto j = found->second;
  running_.erase(found);
  ++totals_.early_words;
  ++over_count_;
  s.now = slot::state::over;
  s.since = std::chrono::steady_clock::now();
  end(j, read_ending(in, *j, s));
}

void slot_carrier::impl::no_longer_over(slot& s) {
  if (s.now != slot::state::over)
    return;
  s.now = slot::state::running; // as of any run that ends
  --over_count_;
}

/// They are free in a moment: a run rather waits for that than for a new one.
std::size_t slot_carrier::impl::over(const std::string& key) const {
  if (over_count_ == 0)
    return 0;
  const auto all = pool_.all();
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](auto& s) {
    return s->now == slot::state::over && s->key() == key;
  }));
}

/// The kernel takes long; from outside all of it is killed once more, and the
/// slot is given up.
void slot_carrier::impl::watch_over(job::time_point now) {
  if (over_count_ == 0)
    return;
  for (const auto& s : pool_.all())
    if (s->now == slot::state::over && now - s->since > options_.kill_grace) {
      ++totals_.replaced;
      destroy(s);
    }
  make_for_waiting();
}

} // namespace troupe::zygote
