#include "runtime/async/watchdog.hpp"

#include "runtime/base/log.hpp"
#include "runtime/base/metrics_writer.hpp"

#include <boost/asio/post.hpp>

#include <pthread.h>
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

namespace troupe {

struct watchdog::entry {
  std::string name;
  question ask;   // null: has to be over instead
  ms left{0};     // until it has to be over
  bool mortal{};  // the process ends with it
  bool named{};   // in the log, as one that does not turn
  ms waited{0};   // for the last answer
  bool waiting{}; // a question is on its way
  std::shared_ptr<std::atomic<bool>> turned;
};

/// What a turn found, to be said when nothing is locked any more.
struct watchdog::told {
  enum class kind { stalls, turns_again, ends } what;
  std::string name;
  ms time;
};

struct watchdog::ledger {
  explicit ledger(watchdog_options o) : options{std::move(o)} {}

  const watchdog_options options;
  std::mutex mutex; // guards what follows
  std::vector<std::shared_ptr<entry>> all;
  clock::time_point last{};
  std::atomic<std::uint64_t> stalls{0};
  std::atomic<std::size_t> stalled{0};

  void forget(const std::shared_ptr<entry>& e);
  ms passed(clock::time_point now);
  bool look_at(entry& e, ms passed, std::vector<told>& found);
  void ask(entry& e);
};

namespace {

using std::chrono::milliseconds;

std::string seconds(milliseconds time) {
  return std::to_string((time.count() + 500) / 1'000) + " s";
}

/// Where nobody has said how.
void end_here(std::string_view why) {
  std::string line{why};
  line += '\n';
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(EX_SOFTWARE);
}

} // namespace

// -- what is watched ----------------------------------------------------------

watchdog::watched& watchdog::watched::operator=(watched&& other) noexcept {
  stop();
  ledger_ = std::move(other.ledger_);
  entry_ = std::move(other.entry_);
  return *this;
}

void watchdog::watched::stop() {
  if (auto e = std::exchange(entry_, nullptr))
    std::exchange(ledger_, nullptr)->forget(e);
}

void watchdog::ledger::forget(const std::shared_ptr<entry>& e) {
  std::lock_guard lock{mutex};
  std::erase(all, e);
  if (std::exchange(e->named, false))
    --stalled;
}

/// How much of the time since the last turn counts. Twice the pause: more is
/// time in which we did not run ourselves, so nobody could have.
milliseconds watchdog::ledger::passed(clock::time_point now) {
  auto before = std::exchange(last, now);
  if (before == clock::time_point{})
    return ms{0};
  return std::min(std::chrono::duration_cast<ms>(now - before),
                  2 * options.every);
}

void watchdog::ledger::ask(entry& e) {
  e.waiting = true;
  e.waited = ms{0};
  // Its own for each question: a late answer to an old one counts for nothing.
  e.turned = std::make_shared<std::atomic<bool>>(false);
  e.ask([turned = e.turned] { turned->store(true); });
}

/// False while it is behind.
bool watchdog::ledger::look_at(entry& e, ms passed, std::vector<told>& found) {
  if (!e.ask) {
    e.left -= passed;
    if (e.left <= ms{0})
      found.push_back({told::kind::ends, e.name, e.left});
    return true;
  }
  if (!e.waiting || e.turned->load()) {
    if (std::exchange(e.named, false)) {
      --stalled;
      found.push_back({told::kind::turns_again, e.name, e.waited + passed});
    }
    ask(e);
    return true;
  }
  e.waited += passed;
  if (e.waited >= options.warn_after && !std::exchange(e.named, true)) {
    ++stalled;
    ++stalls;
    found.push_back({told::kind::stalls, e.name, e.waited});
  }
  if (e.mortal && options.end_after > ms{0} && e.waited >= options.end_after)
    found.push_back({told::kind::ends, e.name, e.waited});
  return e.waited < options.well_within;
}

// -- the watchdog -------------------------------------------------------------

watchdog::watchdog(watchdog_options options)
    : ledger_{std::make_shared<ledger>(std::move(options))} {}

watchdog::~watchdog() {
  {
    std::lock_guard lock{mutex_};
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void watchdog::start() {
  thread_ = std::thread{[this] {
    sigset_t all;
    sigfillset(&all); // signals belong to the main thread
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "troupe-watchdog");
    work();
  }};
}

void watchdog::work() {
  std::unique_lock lock{mutex_};
  while (!done_) {
    lock.unlock();
    turn(clock::now());
    lock.lock();
    changed_.wait_for(lock, ledger_->options.every, [this] { return done_; });
  }
}

watchdog::watched watchdog::turns(std::string name,
                                  boost::asio::any_io_executor thread) {
  auto w = answers(std::move(name),
                   [thread = std::move(thread)](std::function<void()> turned) {
                     boost::asio::post(thread, std::move(turned));
                   });
  std::lock_guard lock{ledger_->mutex};
  w.entry_->mortal = true;
  return w;
}

watchdog::watched watchdog::answers(std::string name, question ask) {
  auto e = std::make_shared<entry>();
  e->name = std::move(name);
  e->ask = std::move(ask);
  std::lock_guard lock{ledger_->mutex};
  ledger_->all.push_back(e);
  return {ledger_, std::move(e)};
}

watchdog::watched watchdog::is_over(std::string what, ms within) {
  auto e = std::make_shared<entry>();
  e->name = std::move(what);
  e->left = within;
  std::lock_guard lock{ledger_->mutex};
  ledger_->all.push_back(e);
  return {ledger_, std::move(e)};
}

void watchdog::turn(clock::time_point now) {
  std::vector<told> found;
  bool well = true;
  const auto& options = ledger_->options;
  {
    std::lock_guard lock{ledger_->mutex};
    auto passed = ledger_->passed(now);
    for (auto& e : ledger_->all)
      well = ledger_->look_at(*e, passed, found) && well;
  }
  for (auto& [what, name, time] : found) {
    if (what == told::kind::stalls) {
      log::warning("watchdog: an io thread is stuck",
                   {{"thread", name}, {"for", seconds(time)}});
    } else if (what == told::kind::turns_again) {
      log::info("watchdog: the io thread has recovered",
                {{"thread", name}, {"after", seconds(time)}});
    } else {
      auto why = time > ms{0}
        ? "watchdog: exiting, thread " + name + " has been stuck for "
          + seconds(time)
        : "watchdog: exiting, " + name + " did not finish in time";
      (options.end ? options.end : end_here)(why);
    }
  }
  if (well && options.all_well)
    options.all_well();
}

std::string watchdog::metrics() const {
  metrics_writer out;
  out.gauge("troupe_stalled_threads",
            "Io threads stuck for longer than watchdog.warn-after.",
            ledger_->stalled.load());
  out.counter("troupe_thread_stalls_total",
              "Times that an io thread was stuck for longer than "
              "watchdog.warn-after.",
              ledger_->stalls.load());
  return out.take();
}

} // namespace troupe
