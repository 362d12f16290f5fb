#include "runtime/local/launch/prestarted_launcher.hpp"

#include "runtime/local/launch/launch_shape.hpp"
#include "runtime/runner/program.hpp"

#include <boost/asio/steady_timer.hpp>

#include <poll.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace troupe {

namespace asio = boost::asio;

namespace {

using clock = std::chrono::steady_clock;

/// So many that died without a run, one after the other: no more are started
/// until somebody has forgotten about it.
constexpr std::uint32_t hopeless_after = 3;

/// Nothing of it is any tenant's, and a process that waits for it would hold
/// nothing that others want back: no mounts, no directory.
bool can_wait_for(const launch& what) {
  const auto& run = *what.run;
  return what.is_runner && !what.compile_only && !what.in && what.channel
    && (run.lang == language::typescript || run.lang == language::javascript)
    && run.mounts.empty() && what.working_dir.empty()
    && run.isolation != isolation_level::off;
}

/// Everything that is fixed when a process is started, and not when its run
/// begins. Equal shapes, equal processes.
std::string shape_of(const launch& what) {
  auto shape = zygote::shape_key(what);
  shape += std::to_string(what.run->limits.cpu.count());
  for (const auto& argument : what.argv)
    shape += '\0' + argument;
  return shape;
}

/// As `like` begins, without anything that only its run is to know.
launch blank(const launch& like) {
  auto run = std::make_shared<prepared_run>();
  run->id = run_id::make();
  run->lang = like.run->lang;
  run->limits = like.run->limits;
  run->network = like.run->network;
  run->isolation = like.run->isolation;
  launch out;
  out.run = std::move(run);
  out.argv = like.argv;
  for (const auto& [name, value] : script::prestart_environment())
    out.env.emplace_back(name, value);
  out.shown = like.shown;
  out.is_runner = true;
  return out;
}

/// Dead, or it has closed its channel: no request would reach it.
bool is_gone(const parent_fds& ends) {
  pollfd look{ends.channel.get(), POLLIN, 0};
  return ::poll(&look, 1, 0) != 0;
}

} // namespace

class prestarted_launcher::impl : public std::enable_shared_from_this<impl> {
public:
  impl(asio::any_io_executor strand, options most,
       std::shared_ptr<launcher> starter, std::function<bool()> wanted)
      : most_{most}, starter_{std::move(starter)}, wanted_{std::move(wanted)},
        idle_timer_{std::move(strand)} {}

  bool accepts(const launch& what);
  std::optional<parent_fds> take_prepared_channels(const launch& what);
  void start(launch what, carrier_events events);
  void kill(const run_id& id);
  void stop();
  ready_counts counts() const;

private:
  /// A process that was started before its run, and its run once it has come.
  struct early_process {
    run_id id; // as the starter knows it
    parent_fds ends;
    bool has_started = false;
    bool is_dismissed = false; // by us, with no run
    // -- of the run
    run_id run;
    carrier_events events;
    clock::time_point begun{};
  };
  using early_ptr = std::shared_ptr<early_process>;

  void note_miss(const launch& what, std::string shape);
  void fill();
  void start_one();
  void on_ended(const early_ptr& one, process_exit ending);
  void dismiss_all();
  void wait_for_idleness();

  options most_;
  std::shared_ptr<launcher> starter_;
  std::function<bool()> wanted_;
  asio::steady_timer idle_timer_;

  // One shape at a time: that of the runs which come.
  std::optional<launch> like_;
  std::string shape_;
  std::string missed_;          // the shape of a run that had to start cold
  std::deque<early_ptr> early_; // with no run, the oldest first
  early_ptr claimed_;           // between `take_prepared_channels` and `start`
  std::unordered_map<run_id, early_ptr> running_;
  std::uint32_t deaths_in_a_row_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t deaths_ = 0;
  bool stopped_ = false;
};

bool prestarted_launcher::impl::accepts(const launch& what) {
  if (stopped_ || most_.count == 0 || !can_wait_for(what))
    return false;
  auto shape = shape_of(what);
  if (shape == shape_)
    for (const auto& one : early_)
      if (one->has_started && !is_gone(one->ends))
        return true;
  if (wanted_())
    note_miss(what, std::move(shape));
  return false;
}

/// It starts cold; those after it need not. Another shape takes over with its
/// second run in a row: runs of two that take turns would end each other's
/// processes for ever.
void prestarted_launcher::impl::note_miss(const launch& what,
                                          std::string shape) {
  if (shape != shape_) {
    const bool again = shape == std::exchange(missed_, shape);
    if (like_ && !again)
      return;
    dismiss_all();
    like_ = blank(what);
    shape_ = std::move(shape);
  }
  fill();
  wait_for_idleness();
}

std::optional<parent_fds>
prestarted_launcher::impl::take_prepared_channels(const launch& what) {
  if (stopped_ || !can_wait_for(what) || shape_of(what) != shape_)
    return std::nullopt;
  const auto found = std::ranges::find_if(early_, [](const auto& one) {
    return one->has_started && !is_gone(one->ends);
  });
  if (found == early_.end())
    return std::nullopt;
  claimed_ = std::move(*found);
  early_.erase(found);
  return std::move(claimed_->ends);
}

void prestarted_launcher::impl::start(launch what, carrier_events events) {
  auto one = std::exchange(claimed_, nullptr);
  if (!one) // nobody claimed it, so nobody listens where it speaks
    return starter_->start(std::move(what), std::move(events));
  missed_.clear();
  one->run = what.run->id;
  one->events = std::move(events);
  one->begun = clock::now();
  running_[one->run] = one;
  ++runs_;
  wait_for_idleness();
  if (one->events.started)
    one->events.started();
}

void prestarted_launcher::impl::fill() {
  while (!stopped_ && like_ && deaths_in_a_row_ < hopeless_after
         && early_.size() < most_.count)
    start_one();
}

void prestarted_launcher::impl::start_one() {
  auto what = blank(*like_);
  auto one = std::make_shared<early_process>();
  one->id = what.run->id;
  if (!make_stdio(what, one->ends, true)) {
    ++deaths_in_a_row_; // no descriptors: they are better spent on runs
    return;
  }
  early_.push_back(one);
  starter_->start(std::move(what),
                  {.started = [one] { one->has_started = true; },
                   .ended =
                     [weak = weak_from_this(), one](process_exit ending) {
                       if (auto self = weak.lock())
                         self->on_ended(one, std::move(ending));
                     }});
}

void prestarted_launcher::impl::on_ended(const early_ptr& one,
                                         process_exit ending) {
  if (one->run.empty()) {
    std::erase(early_, one);
    if (one->is_dismissed)
      return;
    ++deaths_;
    deaths_in_a_row_ += ending.lost ? 0u : 1u; // with its starter: no fault
    return;
  }
  running_.erase(one->run);
  deaths_in_a_row_ = 0;
  // It has lived longer than its run.
  ending.wall = std::chrono::duration_cast<std::chrono::microseconds>(
    clock::now() - one->begun);
  // Not while it ran: that would have cost the run its processor.
  if (wanted_())
    fill();
  if (auto ended = std::move(one->events.ended))
    ended(std::move(ending));
}

void prestarted_launcher::impl::kill(const run_id& id) {
  if (const auto found = running_.find(id); found != running_.end())
    starter_->kill(found->second->id);
  else
    starter_->kill(id);
}

void prestarted_launcher::impl::dismiss_all() {
  for (const auto& one : std::exchange(early_, {})) {
    one->is_dismissed = true;
    starter_->kill(one->id);
  }
}

/// Counts from the last run that came.
void prestarted_launcher::impl::wait_for_idleness() {
  idle_timer_.expires_after(most_.idle);
  idle_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      auto self = weak.lock();
      if (bad || !self)
        return;
      self->dismiss_all();
      self->like_.reset();
      self->shape_.clear();
      self->missed_.clear();
      self->deaths_in_a_row_ = 0;
    });
}

void prestarted_launcher::impl::stop() {
  stopped_ = true;
  idle_timer_.cancel();
  dismiss_all();
}

ready_counts prestarted_launcher::impl::counts() const {
  ready_counts now;
  for (const auto& one : early_)
    ++(one->has_started ? now.waiting : now.coming);
  now.running = running_.size();
  now.runs = runs_;
  now.deaths = deaths_;
  return now;
}

prestarted_launcher::prestarted_launcher(asio::any_io_executor strand,
                                         options most,
                                         std::shared_ptr<launcher> starter,
                                         std::function<bool()> wanted)
    : impl_{std::make_shared<impl>(std::move(strand), most, std::move(starter),
                                   std::move(wanted))} {}

prestarted_launcher::~prestarted_launcher() {
  impl_->stop();
}

bool prestarted_launcher::accepts(const launch& what) const {
  return impl_->accepts(what);
}
std::optional<parent_fds>
prestarted_launcher::take_prepared_channels(const launch& what) {
  return impl_->take_prepared_channels(what);
}
void prestarted_launcher::start(launch what, carrier_events events) {
  impl_->start(std::move(what), std::move(events));
}
void prestarted_launcher::kill(const run_id& id) {
  impl_->kill(id);
}
void prestarted_launcher::stop() {
  impl_->stop();
}
ready_counts prestarted_launcher::counts() const {
  return impl_->counts();
}

} // namespace troupe
