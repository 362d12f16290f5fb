#include "tests/actors/chaos.hpp"

#include <boost/test/unit_test.hpp>

#include <malloc.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(chaos_suite)

namespace {

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
class slow_journal final : public journal {
public:
  explicit slow_journal(unsigned seed) : random_{seed} {}

  result<void> write(std::span<journal_entry> entries) override {
    dawdle();
    return real_->write(entries);
  }
  result<void> sync() override {
    dawdle();
    return real_->sync();
  }
  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    dawdle();
    return real_->claim(wanted, begun);
  }
  result<std::optional<run_record>> find_run(const organization_id& who,
                                             const run_id& id) override {
    return real_->find_run(who, id);
  }
  result<page<run_record>> list_runs(const organization_id& who,
                                     const std::string& after,
                                     std::size_t limit) override {
    return real_->list_runs(who, after, limit);
  }
  result<page<audit_entry>> list_audit(const organization_id& who,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    return real_->list_audit(who, after, limit);
  }
  result<std::size_t> mark_lost() override { return real_->mark_lost(); }
  result<void> tidy() override { return real_->tidy(); }

private:
  void dawdle() {
    if (random_() % 16 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{random_() % 20});
  }
  std::mt19937 random_; // the ledger's thread only
  std::shared_ptr<journal> real_ = make_memory_journal();
};

/// Bytes that the heap has given out.
std::size_t heap_in_use() {
  return ::mallinfo2().uordblks;
}

/// One engine's whole life among the moody.
void live_through(std::size_t count) {
  std::mt19937 random{chaos_seed()};
  auto webhook = std::make_shared<moody_webhook>(chaos_seed() + 1);
  engine_options options;
  options.threads = 2;
  options.webhook = webhook;
  options.books = std::make_shared<slow_journal>(chaos_seed() + 4);
  options.credentials.keep_for = std::chrono::milliseconds{0};
  options.backends
    = {std::make_shared<moody_backend>(backend_kind::local, chaos_seed() + 2),
       std::make_shared<moody_backend>(backend_kind::e2b, chaos_seed() + 3)};
  options.admission.running = 64;
  options.admission.waiting = 512;
  options.breaker.failures = 50;
  options.breaker.pause = std::chrono::milliseconds{1};
  options.deadlines.grace = std::chrono::milliseconds{50};
  options.supervision.first_pause = std::chrono::milliseconds{1};
  auto opened = open_engine(std::move(options));
  BOOST_REQUIRE(opened.has_value());
  auto& host = **opened;
  auto& e = host.engine();

  chaos_tally t{count};
  std::vector<run_id> ids;
  for (std::size_t i = 0; i < count; ++i) {
    auto request = source_run();
    request.id = run_id::make();
    request.idempotent = random() % 2 == 0;
    request.priority = static_cast<std::int32_t>(random() % 5);
    request.deadline = std::chrono::milliseconds{20 + random() % 1'000};
    if (random() % 10 == 0)
      request.idempotency_key = "key-" + std::to_string(random() % 50);
    ids.push_back(request.id);
    auto who
      = someone(random() % 2 ? "" : "org-11111111-1111-4111-8111-111111111111");
    e.submit(who, request, t.answer_of(i), t.events_of(i));
    if (random() % 4 == 0)
      e.cancel(who, ids[random() % ids.size()], [](auto) {});
    if (random() % 100 == 0)
      kill_an_actor(host, random);
    if (random() % 50 == 0)
      webhook->give_up();
  }
  // A hanging webhook must not keep a run beyond its deadline.
  t.wait(std::chrono::seconds{60});
  webhook->give_up();
  host.stop(); // what the supervisor still cleans up is clean after this
  t.check();
  check_counters_are_zero(e);
  BOOST_TEST(metric_of(e, "troupe_actor_restarts_total") > 0);
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_every_request_exactly_once_whatever_happens) {
  BOOST_TEST_MESSAGE("TROUPE_CHAOS_SEED=" << chaos_seed());
  live_through(500); // what is made once stays
  const auto before = heap_in_use();
  const auto count = chaos_number("TROUPE_CHAOS_REQUESTS", 10'000);
  live_through(count);
  const auto after = heap_in_use();
  // A run that is kept costs a kilobyte at least.
  BOOST_TEST(after < before + count * 100,
             "the heap grew from " << before << " to " << after << " bytes");
}

BOOST_AUTO_TEST_SUITE_END()
