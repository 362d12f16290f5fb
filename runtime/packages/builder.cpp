#include "runtime/packages/builder.hpp"

#include "runtime/packages/install_failure.hpp"
#include "runtime/packages/installed_packages.hpp"
#include "runtime/packages/installer.hpp"

#include <boost/asio/post.hpp>

#include <thread>

namespace troupe {

namespace {

// What a failed installation shows: enough to see the cause.
constexpr std::size_t kept_output_bytes = 4'096;

void keep_tail(std::string& tail, std::string_view more) {
  tail += more;
  if (tail.size() > 2 * kept_output_bytes)
    tail.erase(0, tail.size() - kept_output_bytes);
}

std::string last_part(const std::string& text) {
  return text.size() <= kept_output_bytes
    ? text
    : text.substr(text.size() - kept_output_bytes);
}

} // namespace

/// Listens to one installer: hands its lines on and keeps the last ones.
class environment_builder::installer_observer final : public run_observer {
public:
  installer_observer(std::weak_ptr<environment_builder> home, key k)
      : home_{std::move(home)}, key_{std::move(k)} {}

  void output(output_stream, std::string_view bytes) override {
    keep_tail(tail_, bytes);
    line_ += bytes;
    for (auto end = line_.find('\n'); end != std::string::npos;
         end = line_.find('\n')) {
      if (auto home = home_.lock())
        home->tell(key_, std::string_view{line_}.substr(0, end));
      line_.erase(0, end + 1);
    }
    if (line_.size() > kept_output_bytes)
      line_.clear();
  }

  void finished(run_outcome outcome) override {
    if (auto home = home_.lock())
      home->installed(key_, std::move(outcome), last_part(tail_));
  }

private:
  std::weak_ptr<environment_builder> home_;
  key key_;
  std::string tail_;
  std::string line_;
};

namespace {

/// Work on it may be the last to let go of the builder, and a pool cannot be
/// destroyed by a thread of its own: another one does it then.
std::shared_ptr<boost::asio::thread_pool> make_worker() {
  return {new boost::asio::thread_pool{1}, [](boost::asio::thread_pool* pool) {
            if (pool->get_executor().running_in_this_thread())
              std::thread{[pool] { delete pool; }}.detach();
            else
              delete pool;
          }};
}

} // namespace

environment_builder::environment_builder(std::shared_ptr<backend> carrier,
                                         environment_options options)
    : carrier_{std::move(carrier)}, options_{std::move(options)},
      cache_{options_.root, options_.max_bytes}, worker_{make_worker()},
      watch_timer_{worker_->get_executor()} {}

environment_builder::~environment_builder() {
  stop();
}

result<void> environment_builder::open() {
  cache_.on_garbage([weak = weak_from_this()] {
    auto self = weak.lock();
    if (self)
      boost::asio::post(*self->worker_, [self] { self->cache_.collect(); });
  });
  return cache_.open();
}

void environment_builder::acquire(environment_spec spec,
                                  environment_waiter waiter) {
  key k{spec.organization, environment_fingerprint(spec)};
  if (auto ready = cache_.lease(k.first, k.second))
    return waiter.finished(std::move(ready));
  join_or_begin(k, std::move(spec), false, std::move(waiter));
}

void environment_builder::renew(environment_spec spec,
                                environment_waiter waiter) {
  key k{spec.organization, environment_fingerprint(spec)};
  join_or_begin(k, std::move(spec), true, std::move(waiter));
}

void environment_builder::join_or_begin(const key& k, environment_spec spec,
                                        bool afresh,
                                        environment_waiter waiter) {
  std::unique_lock lock{mutex_};
  if (stopped_ || waiting_ >= options_.max_waiting) {
    auto why = stopped_
      ? error{ec::unavailable, "the engine is shutting down", {}, {}}
      : error{ec::exhausted,
              "too many runs are waiting for package sets to be built",
              {},
              std::chrono::seconds{5}};
    lock.unlock();
    return waiter.finished(std::move(why));
  }
  ++waiting_;
  auto [i, first] = builds_.try_emplace(k);
  i->second.waiters.push_back(std::move(waiter));
  if (!first)
    return;
  i->second.spec = std::move(spec);
  i->second.afresh = afresh;
  queue_.push_back(k);
  lock.unlock();
  begin_next();
}

void environment_builder::begin_next() {
  boost::asio::post(*worker_, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self)
      return;
    key k;
    {
      std::lock_guard guard{self->mutex_};
      if (self->queue_.empty() || self->under_way_ >= self->options_.max_builds)
        return; // the end of one of those will ask again
      k = std::move(self->queue_.front());
      self->queue_.pop_front();
    }
    self->begin(k);
  });
}

/// False when nobody waits for it any more.
bool environment_builder::reserve_build(const key& k, build& copy) {
  std::lock_guard guard{mutex_};
  auto i = builds_.find(k);
  if (i == builds_.end())
    return false;
  i->second.begun = true;
  ++under_way_;
  copy.spec = i->second.spec;
  copy.afresh = i->second.afresh;
  return true;
}

void environment_builder::begin(const key& k) {
  build b;
  if (!reserve_build(k, b))
    return begin_next();
  // A build that ended between `lease` and the lock of `acquire` counts.
  if (auto ready = b.afresh ? nullptr : cache_.lease(k.first, k.second))
    return answer(k, ready);
  auto staged = cache_.stage(k.first, k.second);
  if (!staged)
    return answer(k, staged.error().within("package set"));
  auto run = installation(b.spec, *staged, options_);
  if (!run) {
    cache_.discard(*staged);
    return answer(k, run.error().within("package set"));
  }
  {
    std::lock_guard guard{mutex_};
    auto i = builds_.find(k);
    if (i == builds_.end())
      return cache_.discard(*staged);
    i->second.staged = *staged;
    i->second.installer = run->id;
  }
  tell(k,
       "building a package set with "
         + std::to_string(b.spec.pip.size() + b.spec.npm.size()) + " packages");
  watch_soon();
  carrier_->start(std::make_shared<const prepared_run>(std::move(*run)),
                  std::make_shared<installer_observer>(weak_from_this(), k));
}

void environment_builder::tell(const key& k, std::string_view line) {
  std::vector<std::function<void(std::string_view)>> listeners;
  {
    std::lock_guard guard{mutex_};
    auto i = builds_.find(k);
    if (i == builds_.end())
      return;
    i->second.last_line = std::string{line};
    for (const auto& w : i->second.waiters)
      if (w.progress)
        listeners.push_back(w.progress);
  }
  for (const auto& listener : listeners)
    listener(line);
}

void environment_builder::installed(const key& k, run_outcome outcome,
                                    std::string last_lines) {
  auto settle_and_answer
    = [self = shared_from_this(), k, outcome = std::move(outcome),
       last_lines = std::move(last_lines)] {
        build b;
        {
          std::lock_guard guard{self->mutex_};
          auto i = self->builds_.find(k);
          if (i == self->builds_.end())
            return;
          b.spec = i->second.spec;
          b.staged = i->second.staged;
          b.over_bound = i->second.over_bound;
        }
        self->answer(k, self->settle(k, b, outcome, last_lines));
      };
  std::lock_guard guard{mutex_};
  if (!stopped_) // else nobody would take it up, and it holds on to us
    boost::asio::post(*worker_, std::move(settle_and_answer));
}

result<environment_lease_ptr>
environment_builder::settle(const key& k, const build& b,
                            const run_outcome& outcome,
                            const std::string& last_lines) {
  auto over = b.over_bound.empty() ? over_bound(b.staged) : b.over_bound;
  auto failed = install_failure(outcome, over, last_lines);
  if (failed) {
    cache_.discard(b.staged);
    return std::move(*failed);
  }
  environment_info info;
  info.organization = k.first;
  info.fingerprint = k.second;
  info.packages = installed_packages(b.staged);
  auto lease = cache_.commit(b.staged, std::move(info));
  if (!lease)
    cache_.discard(b.staged);
  return lease;
}

void environment_builder::answer(const key& k,
                                 const result<environment_lease_ptr>& what) {
  std::vector<environment_waiter> waiters;
  {
    std::lock_guard guard{mutex_};
    auto node = builds_.extract(k);
    if (node.empty())
      return;
    waiters = std::move(node.mapped().waiters);
    waiting_ -= waiters.size();
    under_way_ -= node.mapped().begun ? 1u : 0u;
  }
  begin_next();
  for (const auto& w : waiters)
    w.finished(what);
}

result<void> environment_builder::forget(const organization_id& organization,
                                         const std::string& fingerprint) {
  if (!cache_.lease(organization, fingerprint))
    return error{ec::not_found, "no such package set", {}, {}};
  if (!cache_.remove(organization, fingerprint))
    return error{
      ec::conflict,
      "the package set is in use; try again when its runs have ended",
      {},
      {}};
  return {};
}

void environment_builder::forget(const organization_id& organization,
                                 const std::string& fingerprint,
                                 std::function<void(result<void>)> done) {
  auto work = [self = shared_from_this(), organization, fingerprint,
               done = std::move(done)] {
    done(self->forget(organization, fingerprint));
  };
  {
    std::lock_guard guard{mutex_};
    if (!stopped_) {
      boost::asio::post(*worker_, std::move(work));
      return;
    }
  }
  work(); // the thread has gone, and so has everybody who could mind
}

bool environment_builder::join(const key& k, environment_waiter waiter) {
  std::lock_guard guard{mutex_};
  auto i = builds_.find(k);
  if (i == builds_.end() || waiting_ >= options_.max_waiting)
    return false;
  ++waiting_;
  i->second.waiters.push_back(std::move(waiter));
  return true;
}

std::vector<std::pair<std::string, std::string>>
environment_builder::under_way(const organization_id& organization) const {
  std::vector<std::pair<std::string, std::string>> out;
  std::lock_guard guard{mutex_};
  for (auto i = builds_.lower_bound({organization, {}});
       i != builds_.end() && i->first.first == organization; ++i)
    out.emplace_back(i->first.second, i->second.last_line);
  return out;
}

std::vector<environment_info>
environment_builder::list(const organization_id& organization) const {
  return cache_.list(organization);
}

void environment_builder::stop() {
  std::vector<key> open;
  {
    std::lock_guard guard{mutex_};
    stopped_ = true;
    queue_.clear();
    for (const auto& [k, b] : builds_)
      open.push_back(k);
  }
  for (const auto& k : open)
    answer(k, error{ec::unavailable, "the engine is shutting down", {}, {}});
  boost::asio::post(*worker_, [this] { watch_timer_.cancel(); });
  // On the worker itself there is nobody to wait for; see make_worker(). Else
  // what is queued finds its build gone, and who asked to forget is answered.
  if (worker_->get_executor().running_in_this_thread())
    worker_->stop();
  else
    worker_->join();
  cache_.save_uses();
}

} // namespace troupe
