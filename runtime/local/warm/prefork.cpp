#include "runtime/local/warm/prefork.hpp"

#include <thread>

namespace troupe::zygote {

namespace {

/// Children that wait, of all organizations; each is half a megabyte.
constexpr std::size_t most_preforked = 8;

} // namespace

/// This run has a processor to itself, and there is another: what the next one
/// needs is made there, in a slot of its own, since a child that waits must not
/// meet a tool. Only where runs follow each other too fast to find one warmed;
/// where several run at a time, there is no processor to spare.
bool prefork::on_run(const std::string& key) {
  static const bool has_another = std::thread::hardware_concurrency() > 1;
  if (!options_.prefork || !has_another || stopped_)
    return false;
  const auto now = load_();
  if (now.running > 1 || now.waiting > 0 || pool_.has_preforked(key)
      || pool_.preforked() >= most_preforked
      || std::chrono::steady_clock::now() - last_rest_ > options_.prefork_after)
    return false;
  const auto s = pool_.warmest_idle(key);
  if (s && s->prefork())
    pool_.add_preforked(s);
  return !s && now.making == 0;
}

void prefork::on_rest(const slot& s) {
  last_rest_ = s.since;
  if (options_.preforked <= pool_.warm() || stopped_)
    return;
  // Moves the deadline on: it counts from the latest end of a run.
  timer_.expires_after(options_.prefork_after);
  timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->warm_up();
    });
}

void prefork::stop() {
  stopped_ = true;
  timer_.cancel();
}

void prefork::warm_up() {
  const auto now = load_();
  if (now.running > 0 || now.waiting > 0 || stopped_)
    return; // the end of that run will ask again
  while (pool_.warm() < options_.preforked) {
    const auto s = pool_.warmest_not_warm();
    if (!s)
      return;
    if (s->now == slot::state::idle) {
      if (!s->prefork())
        return;
      pool_.add_preforked(s);
    }
    s->is_warm = s->warm();
    if (!s->is_warm)
      return;
  }
}

} // namespace troupe::zygote
