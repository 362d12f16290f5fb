#include "runtime/local/warm/early_result.hpp"

#include <algorithm>
#include <thread>

namespace troupe::zygote {

/// Where several run at a time nothing is gained, since no processor waits for
/// work, and two packets for each run are more work than one.
bool early_results::is_wanted(const slot& s, const launcher_load& now) const {
  static const bool has_another = std::thread::hardware_concurrency() > 1;
  return enabled_ && has_another && now.running <= 1 && now.waiting == 0
    && s.on().report.level == isolation_level::standard;
}

void early_results::begin(slot& s) {
  ++count_;
  s.now = slot::state::over;
  s.since = std::chrono::steady_clock::now();
}

void early_results::end(slot& s) {
  if (s.now != slot::state::over)
    return;
  s.now = slot::state::running; // as of any run that ends
  --count_;
}

std::size_t early_results::count(const slot_pool& of,
                                 const std::string& key) const {
  if (count_ == 0)
    return 0;
  const auto all = of.all();
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](auto& s) {
    return s->now == slot::state::over && s->key() == key;
  }));
}

} // namespace troupe::zygote
