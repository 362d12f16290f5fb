// Buys: of a run that comes right after another one, the fork and what a child
// does before it reads its request are over when it comes; a quarter to a third
// of its latency. It costs no processor time to speak of, for such a child is a
// fork early, not one more.
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <thread>

namespace troupe::zygote {

namespace {

/// Children that wait, of all organizations; each is half a megabyte.
constexpr std::size_t most_waiting = 8;

} // namespace

/// This run has a processor to itself, and there is another: what the next one
/// needs is made there, in a slot of its own, since a child that waits must not
/// meet a tool. Only where runs follow each other too fast to find one warmed;
/// where several run at a time, there is no processor to spare.
void slot_carrier::impl::fork_ahead(const job& like) {
  static const bool has_another = std::thread::hardware_concurrency() > 1;
  if (!options_.fork_ahead || !has_another || running_.size() > 1
      || waiting_count_ > 0 || stopped_ || pool_.has_armed(like.key)
      || pool_.armed() >= most_waiting
      || std::chrono::steady_clock::now() - last_rest_ > options_.arm_after)
    return;
  if (const auto s = pool_.warmest_idle(like.key); s && s->arm())
    pool_.arm(s);
  else if (!s && making_count_ == 0 && has_room())
    make_slot(like);
}

} // namespace troupe::zygote
