#pragma once

#include "runtime/engine/backend.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// What every backend promises to the executors, as a table: one row per
/// promise, run on each implementation.
namespace troupe::test {

/// Hears one run; complains when it is told too much.
class contract_observer final : public run_observer {
public:
  void started() override { note("started"); }
  void output(output_stream stream, std::string_view data) override {
    std::lock_guard guard{mutex_};
    late_ = late_ || outcome_.has_value();
    (stream == output_stream::out ? out_ : err_) += data;
  }
  void finished(run_outcome outcome) override {
    std::lock_guard guard{mutex_};
    ++endings_;
    outcome_.emplace(std::move(outcome));
    changed_.notify_all();
  }

  const run_outcome& wait() {
    std::unique_lock lock{mutex_};
    BOOST_REQUIRE(changed_.wait_for(lock, std::chrono::seconds{60},
                                    [this] { return outcome_.has_value(); }));
    return *outcome_;
  }
  bool wait_until_started() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{60},
                             [this] { return started_; });
  }
  const run_result& result() {
    const auto& outcome = wait();
    BOOST_REQUIRE_MESSAGE(outcome.answer.has_value(),
                          to_string(outcome.answer.error()));
    return *outcome.answer;
  }
  void check_manners() {
    std::lock_guard guard{mutex_};
    BOOST_TEST(endings_ == 1);
    BOOST_TEST(!late_);
  }
  std::string out() {
    std::lock_guard guard{mutex_};
    return out_;
  }

private:
  void note(std::string_view) {
    std::lock_guard guard{mutex_};
    late_ = late_ || outcome_.has_value();
    started_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<run_outcome> outcome_;
  std::string out_;
  std::string err_;
  int endings_ = 0;
  bool started_ = false;
  bool late_ = false;
};

/// One backend under test: how to make it, and tools in its language.
struct contract_subject {
  std::function<std::shared_ptr<backend>()> make;
  std::string echo = "def f(x: int) -> int:\n    return x\n";
  std::string fail = "def f(x: int) -> int:\n    raise ValueError('no')\n";
  std::string print
    = "def f(x: int) -> int:\n    print('words', flush=True)\n    return x\n";
  std::string hang = "def f(x: int) -> int:\n    while True:\n        pass\n";

  std::shared_ptr<prepared_run> run(const std::string& source,
                                    int x = 1) const {
    auto r = std::make_shared<prepared_run>();
    r->id = run_id::make();
    r->organization = default_organization();
    r->function = "f";
    r->name = "f";
    r->source = source;
    r->args_json = "{\"x\":" + std::to_string(x) + "}";
    r->deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    r->limits.wall = std::chrono::minutes{1};
    return r;
  }
};

struct contract_promise {
  std::string name;
  std::function<void(const contract_subject&, backend&)> check;
};

inline const std::vector<contract_promise>& executor_contract() {
  using observer = std::shared_ptr<contract_observer>;
  auto listen = [] { return std::make_shared<contract_observer>(); };
  static const std::vector<contract_promise> table{
    {"answers a run once, under its own id",
     [=](const contract_subject& s, backend& b) {
       auto run = s.run(s.echo, 42);
       observer o = listen();
       b.start(run, o);
       BOOST_TEST((o->result().status == run_status::success));
       BOOST_TEST(o->result().value_json == "42");
       BOOST_TEST(o->result().id.str() == run->id.str());
       o->check_manners();
     }},
    {"reports a failing tool as a result",
     [=](const contract_subject& s, backend& b) {
       observer o = listen();
       b.start(s.run(s.fail), o);
       BOOST_TEST((o->result().status == run_status::error));
       // By itself: it left, or it raised an error.
       const auto why = o->result().reason;
       BOOST_TEST((why == exit_reason::exited || why == exit_reason::raised));
       BOOST_TEST(!o->result().failure.empty());
       BOOST_TEST(o->wait().may_have_started);
       o->check_manners();
     }},
    {"tells the output before the end",
     [=](const contract_subject& s, backend& b) {
       observer o = listen();
       b.start(s.run(s.print), o);
       BOOST_TEST(o->result().stdout_text.find("words") == 0u);
       BOOST_TEST(o->out().find("words") == 0u);
       o->check_manners();
     }},
    {"ends a run that is cancelled",
     [=](const contract_subject& s, backend& b) {
       auto run = s.run(s.hang);
       observer o = listen();
       b.start(run, o);
       BOOST_REQUIRE(o->wait_until_started());
       b.cancel(run->id, exit_reason::cancelled);
       BOOST_TEST((o->result().reason == exit_reason::cancelled));
       b.cancel(run->id, exit_reason::cancelled); // it has just ended
       o->check_manners();
     }},
    {"says which of the two reasons ended it",
     [=](const contract_subject& s, backend& b) {
       auto run = s.run(s.hang);
       observer o = listen();
       b.start(run, o);
       BOOST_REQUIRE(o->wait_until_started());
       b.cancel(run->id, exit_reason::wall_timeout);
       BOOST_TEST((o->result().reason == exit_reason::wall_timeout));
       o->check_manners();
     }},
    {"ignores a cancel for what it does not know",
     [=](const contract_subject& s, backend& b) {
       b.cancel(run_id::make(), exit_reason::cancelled);
       observer o = listen();
       b.start(s.run(s.echo, 42), o);
       BOOST_TEST((o->result().status == run_status::success));
       BOOST_TEST(b.ready().has_value());
     }},
    {"keeps many runs apart",
     [=](const contract_subject& s, backend& b) {
       std::vector<observer> all;
       for (int i = 0; i < 16; ++i) {
         all.push_back(listen());
         b.start(s.run(s.echo, i), all.back());
       }
       for (int i = 0; i < 16; ++i) {
         auto& o = *all[static_cast<std::size_t>(i)];
         BOOST_TEST(o.result().value_json == std::to_string(i));
         o.check_manners();
       }
     }},
    {"ends everything when it stops, and refuses what comes later",
     [=](const contract_subject& s, backend& b) {
       observer running = listen();
       b.start(s.run(s.hang), running);
       BOOST_REQUIRE(running->wait_until_started());
       b.stop();
       (void)running->wait();
       running->check_manners();
       observer late = listen();
       b.start(s.run(s.echo), late);
       const auto& outcome = late->wait();
       BOOST_TEST(!outcome.answer.has_value());
       BOOST_TEST(!outcome.may_have_started);
     }},
  };
  return table;
}

/// Every promise on a backend of its own.
inline void check_contract(const contract_subject& subject) {
  for (const auto& promise : executor_contract()) {
    BOOST_TEST_CONTEXT(promise.name) {
      auto b = subject.make();
      BOOST_REQUIRE(b);
      promise.check(subject, *b);
      b->stop();
    }
  }
}

} // namespace troupe::test
