#pragma once

#include "runtime/engine/backend.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::test {

/// A backend in memory that does what a test tells it: answer at once, hold
/// runs until they are released, fail. Thread-safe like any backend.
class scripted_backend final : public backend {
public:
  enum class mode { answer, hold, thread, refuse };
  using script = std::function<run_outcome(const prepared_run&, run_observer&)>;

  explicit scripted_backend(backend_kind kind = backend_kind::local,
                            mode how = mode::answer)
      : kind_{kind}, how_{how} {}

  ~scripted_backend() override { stop(); }

  /// What a run does; by default it succeeds with its arguments.
  void set_script(script s) {
    std::lock_guard guard{mutex_};
    script_ = std::move(s);
  }
  void set_ready(result<void> ready) {
    std::lock_guard guard{mutex_};
    ready_ = std::move(ready);
  }
  /// Runs that are held until they are released, whatever the mode.
  void hold_when(std::function<bool(const prepared_run&)> which) {
    std::lock_guard guard{mutex_};
    hold_when_ = std::move(which);
  }
  void ignore_cancel(bool ignore) { ignore_cancel_ = ignore; }

  backend_kind kind() const override { return kind_; }

  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    started_ += 1;
    auto how = how_;
    {
      std::lock_guard guard{mutex_};
      if (hold_when_ && hold_when_(*run))
        how = mode::hold;
      if (stopped_)
        how = mode::refuse;
    }
    switch (how) {
    case mode::refuse:
      observer->finished(
        {error{ec::unavailable, "the backend has stopped", {}, {}}, false});
      return;
    case mode::answer:
      play(run, observer);
      return;
    case mode::thread: {
      auto t = std::thread{[this, run, observer] { play(run, observer); }};
      std::lock_guard guard{mutex_};
      threads_.push_back(std::move(t));
      return;
    }
    case mode::hold: {
      observer->started();
      std::lock_guard guard{mutex_};
      const auto id = run->id; // read before `run` is moved
      held_.emplace(id, std::pair{std::move(run), std::move(observer)});
      changed_.notify_all();
    }
    }
  }

  void cancel(const run_id& id, exit_reason reason) override {
    cancels_ += 1;
    if (ignore_cancel_)
      return;
    if (auto held = take(id)) {
      auto r = answer_for(*held->first);
      r.status = run_status::error;
      r.reason = reason;
      held->second->finished({std::move(r), true});
    }
  }

  result<void> ready() const override {
    std::lock_guard guard{mutex_};
    return ready_;
  }

  void stop() override {
    std::vector<std::thread> threads;
    std::map<run_id, std::pair<prepared_run_ptr, run_observer_ptr>> held;
    {
      std::lock_guard guard{mutex_};
      stopped_ = true;
      threads.swap(threads_);
      held.swap(held_);
    }
    for (auto& t : threads)
      t.join();
    for (auto& [id, entry] : held)
      entry.second->finished(
        {error{ec::unavailable, "the backend stopped", {}, {}}, true});
  }

  // -- for tests -------------------------------------------------------------
  std::size_t wait_for_held(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{10},
                      [&] { return held_.size() >= count; });
    return held_.size();
  }
  std::vector<run_id> held_ids() const {
    std::lock_guard guard{mutex_};
    std::vector<run_id> ids;
    for (const auto& [id, entry] : held_)
      ids.push_back(id);
    return ids;
  }
  prepared_run_ptr held_run(const run_id& id) const {
    std::lock_guard guard{mutex_};
    auto i = held_.find(id);
    return i == held_.end() ? nullptr : i->second.first;
  }
  bool release(const run_id& id) {
    auto held = take(id);
    if (!held)
      return false;
    play(held->first, held->second);
    return true;
  }
  std::size_t release_all() {
    std::size_t n = 0;
    for (const auto& id : held_ids())
      n += release(id) ? 1 : 0;
    return n;
  }
  int started() const { return started_; }
  int cancels() const { return cancels_; }

  static run_result answer_for(const prepared_run& run) {
    run_result r;
    r.id = run.id;
    r.status = run_status::success;
    r.reason = exit_reason::exited;
    r.value_json = run.args_json;
    return r;
  }

private:
  using held_run_entry = std::pair<prepared_run_ptr, run_observer_ptr>;

  std::optional<held_run_entry> take(const run_id& id) {
    std::lock_guard guard{mutex_};
    auto i = held_.find(id);
    if (i == held_.end())
      return std::nullopt;
    auto entry = std::move(i->second);
    held_.erase(i);
    return entry;
  }

  void play(const prepared_run_ptr& run, const run_observer_ptr& observer) {
    script s;
    {
      std::lock_guard guard{mutex_};
      s = script_;
    }
    if (s) {
      observer->finished(s(*run, *observer));
      return;
    }
    observer->started();
    observer->finished({answer_for(*run), true});
  }

  const backend_kind kind_;
  const mode how_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  script script_;
  result<void> ready_;
  std::map<run_id, held_run_entry> held_;
  std::vector<std::thread> threads_;
  std::function<bool(const prepared_run&)> hold_when_;
  bool stopped_ = false;
  std::atomic<bool> ignore_cancel_{false};
  std::atomic<int> started_{0};
  std::atomic<int> cancels_{0};
};

} // namespace troupe::test
