#pragma once

#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/engine/forwarding_journal.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace troupe::test {

/// A backend that answers late, early, wrongly or never, on its own threads.
/// What it does is decided by a seeded generator.
class moody_backend final : public backend {
public:
  moody_backend(backend_kind kind, unsigned seed)
      : kind_{kind}, random_{seed}, worker_{[this] { work(); }} {}
  ~moody_backend() override { stop(); }

  backend_kind kind() const override { return kind_; }
  result<void> ready() const override { return {}; }

  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    std::unique_lock lock{mutex_};
    switch (random_() % 8) {
    case 0: // fails at once
      lock.unlock();
      observer->finished({error{ec::unavailable, "moody", {}, {}}, false});
      return;
    case 1: // throws; it must not, but it does
      throw std::runtime_error{"moody"};
    case 2: // answers at once
      lock.unlock();
      observer->started();
      observer->finished({scripted_backend::answer_for(*run), true});
      return;
    case 3: // never answers, unless it is cancelled
      held_.emplace(run->id, held_run{run, observer});
      return;
    default:
      queue_.push_back({run, observer});
      changed_.notify_one();
    }
  }

  void cancel(const run_id& id, exit_reason reason) override {
    std::unique_lock lock{mutex_};
    auto n = held_.extract(id);
    if (!n)
      return;
    lock.unlock();
    auto r = scripted_backend::answer_for(*n.mapped().run);
    r.status = run_status::error;
    r.reason = reason;
    n.mapped().observer->finished({std::move(r), true});
  }

  void stop() override {
    {
      std::lock_guard guard{mutex_};
      stopped_ = true;
    }
    changed_.notify_all();
    if (worker_.joinable())
      worker_.join();
    held_.clear();
  }

private:
  struct held_run {
    prepared_run_ptr run;
    run_observer_ptr observer;
  };

  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (queue_.empty())
        return;
      auto next = std::move(queue_.back()); // out of order, on purpose
      queue_.pop_back();
      const bool fails = random_() % 4 == 0;
      lock.unlock();
      next.observer->started();
      next.observer->output(output_stream::out, "working");
      if (fails)
        next.observer->finished({error{ec::unavailable, "died", {}, {}}, true});
      else
        next.observer->finished(
          {scripted_backend::answer_for(*next.run), true});
      lock.lock();
    }
  }

  const backend_kind kind_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937 random_;
  std::vector<held_run> queue_;
  std::map<run_id, held_run> held_;
  bool stopped_ = false;
  std::thread worker_;
};

/// Answers some questions, forgets others until it goes away.
class moody_webhook final : public credential_source {
public:
  explicit moody_webhook(unsigned seed) : random_{seed} {}
  void ask(credential_query, std::chrono::milliseconds,
           std::function<void(result<environment>)> done) override {
    std::unique_lock lock{mutex_};
    if (random_() % 3 == 0) {
      hanging_.push_back(std::move(done));
      return;
    }
    lock.unlock();
    done(environment{});
  }
  void give_up() {
    std::vector<std::function<void(result<environment>)>> hanging;
    {
      std::lock_guard guard{mutex_};
      hanging.swap(hanging_);
    }
    for (auto& done : hanging)
      done(error{ec::timeout, "no answer", {}, {}});
  }

private:
  std::mutex mutex_;
  std::mt19937 random_;
  std::vector<std::function<void(result<environment>)>> hanging_;
};

/// A store that now and then takes its time.
class slow_journal final : public forwarding_journal {
public:
  explicit slow_journal(unsigned seed) : random_{seed} {}

  result<void> write(std::span<journal_entry> entries) override {
    dawdle();
    return forwarding_journal::write(entries);
  }
  result<void> sync() override {
    dawdle();
    return forwarding_journal::sync();
  }
  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    dawdle();
    return forwarding_journal::claim(wanted, begun);
  }

private:
  void dawdle() {
    if (random_() % 16 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{random_() % 20});
  }
  std::mt19937 random_; // the ledger's thread only
};

} // namespace troupe::test
