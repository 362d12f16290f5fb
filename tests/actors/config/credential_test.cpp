#include "runtime/engine/credential_source.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(credential_suite)

namespace {

/// A webhook that is asked and answers when the test says so.
class scripted_webhook final : public credential_source {
public:
  using done_fn = std::function<void(result<environment>)>;

  void ask(credential_query query, std::chrono::milliseconds,
           done_fn done) override {
    std::unique_lock lock{mutex_};
    queries_.push_back(std::move(query));
    if (!answer_) {
      waiting_.push_back(std::move(done));
      changed_.notify_all();
      return;
    }
    auto answer = *answer_;
    lock.unlock();
    done(std::move(answer));
  }

  void always(result<environment> answer) {
    std::lock_guard guard{mutex_};
    answer_ = std::move(answer);
  }
  bool wait_until_asked() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10},
                             [&] { return !waiting_.empty(); });
  }
  void answer_all(const result<environment>& answer) {
    std::vector<done_fn> waiting;
    {
      std::lock_guard guard{mutex_};
      waiting.swap(waiting_);
    }
    for (auto& done : waiting)
      done(answer);
  }
  std::vector<credential_query> queries() const {
    std::lock_guard guard{mutex_};
    return queries_;
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<result<environment>> answer_;
  std::vector<done_fn> waiting_;
  std::vector<credential_query> queries_;
};

struct webhook_fixture : engine_fixture {
  std::shared_ptr<scripted_webhook> webhook;
  /// Of the last run, which may end after the test, and of others beside it.
  struct last_environment {
    std::mutex mutex;
    environment variables;
  };
  std::shared_ptr<last_environment> last = std::make_shared<last_environment>();

  explicit webhook_fixture(engine_options options = {})
      : webhook_fixture{std::make_shared<scripted_webhook>(),
                        std::move(options)} {}
  webhook_fixture(std::shared_ptr<scripted_webhook> hook,
                  engine_options options)
      : engine_fixture{scripted_backend::mode::answer,
                       with(hook, std::move(options))},
        webhook{std::move(hook)} {
    local->set_script([last = last](const prepared_run& run, run_observer&) {
      std::lock_guard guard{last->mutex};
      last->variables = run.env;
      return run_outcome{scripted_backend::answer_for(run), true};
    });
  }
  environment seen() const {
    std::lock_guard guard{last->mutex};
    return last->variables;
  }
  static engine_options with(std::shared_ptr<credential_source> hook,
                             engine_options options) {
    options.webhook = std::move(hook);
    return options;
  }
};

environment variables(std::string name, std::string value) {
  environment e;
  e.emplace(std::move(name), secret{std::move(value)});
  return e;
}

engine_options strict() {
  engine_options options;
  options.credentials.when_webhook_fails = credential_rules::on_error::fail;
  return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(puts_the_webhooks_variables_below_the_runs) {
  webhook_fixture f;
  auto answer = variables("FROM_HOOK", "1");
  answer.emplace("SHARED", secret{"hook"});
  f.webhook->always(answer);
  auto request = source_run();
  request.env = variables("SHARED", "run");
  request.agent_id = "agent-1";
  request.tool_name = "t";
  BOOST_REQUIRE(f.run(request).has_value());
  BOOST_TEST(f.seen().at("FROM_HOOK").reveal() == "1");
  BOOST_TEST(f.seen().at("SHARED").reveal() == "run");
  auto queries = f.webhook->queries();
  BOOST_REQUIRE(queries.size() == 1u);
  BOOST_TEST(queries[0].agent_id == "agent-1");
  BOOST_TEST(queries[0].tool_name == "t");
}

BOOST_AUTO_TEST_CASE(asks_once_for_many_runs_at_a_time_and_remembers) {
  webhook_fixture f;
  std::vector<run_answer_box> boxes(10);
  for (auto& box : boxes)
    f.engine().submit(someone(), source_run(), box.handle(), {});
  BOOST_REQUIRE(f.webhook->wait_until_asked());
  // More may be on their way: whoever comes later is answered from memory.
  f.webhook->answer_all(variables("A", "1"));
  for (auto& box : boxes)
    BOOST_REQUIRE(box.get().has_value());
  BOOST_TEST(f.webhook->queries().size() == 1u);
}

BOOST_AUTO_TEST_CASE(explains_what_the_webhook_gives_without_its_values) {
  webhook_fixture f;
  f.webhook->always(variables("FROM_HOOK", "hush"));
  auto request = source_run();
  request.env["MINE"] = secret{"quiet"};
  auto explain = [&] {
    answer<explanation> box;
    f.engine().explain(someone(), request, box.handle());
    auto told = box.get();
    BOOST_REQUIRE_MESSAGE(told.has_value(), why(told));
    return *told;
  };
  auto told = explain();
  std::map<std::string, std::string> origins{told.variables.begin(),
                                             told.variables.end()};
  BOOST_TEST(origins.at("FROM_HOOK") == "webhook");
  BOOST_TEST(origins.at("MINE") == "run");
  // A run that follows is not asked for anew, and does get the value.
  auto ran = f.run(request);
  BOOST_REQUIRE(ran.has_value());
  BOOST_TEST(f.webhook->queries().size() == 1u);
}

BOOST_AUTO_TEST_CASE(explains_that_the_webhook_fails) {
  engine_options options;
  options.credentials.when_webhook_fails = credential_rules::on_error::fail;
  webhook_fixture f{std::move(options)};
  f.webhook->always(error{ec::unavailable, "out to lunch", {}, {}});
  answer<explanation> box;
  f.engine().explain(someone(), source_run(), box.handle());
  auto told = box.get();
  BOOST_REQUIRE_MESSAGE(told.has_value(), why(told));
  BOOST_TEST(std::ranges::any_of(told->reasons, [](const auto& reason) {
    return reason.find("out to lunch") != std::string::npos;
  }));
}

BOOST_AUTO_TEST_CASE(goes_on_without_a_webhook_that_fails_and_says_so) {
  webhook_fixture f;
  f.webhook->always(error{ec::timeout, "no answer in 10 s", {}, {}});
  auto r = f.run(source_run());
  BOOST_REQUIRE(r.has_value());
  BOOST_REQUIRE((*r)->notes.size() == 1u);
  BOOST_TEST((*r)->notes[0].find("webhook failed") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_to_run_when_it_must_have_the_webhook) {
  webhook_fixture f{strict()};
  f.webhook->always(error{ec::timeout, "no answer in 10 s", {}, {}});
  auto r = f.run(source_run());
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::unavailable));
  BOOST_TEST(f.local->started() == 0);
  // A failure is not remembered.
  f.webhook->always(environment{});
  BOOST_TEST(f.run(source_run()).has_value());
}

BOOST_AUTO_TEST_CASE(does_not_take_loader_variables_from_outside) {
  webhook_fixture f;
  auto answer = variables("LD_PRELOAD", "/tmp/evil.so");
  answer.emplace("GOOD", secret{"1"});
  f.webhook->always(answer);
  auto r = f.run(source_run());
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(!f.seen().contains("LD_PRELOAD"));
  BOOST_TEST(f.seen().contains("GOOD"));
  BOOST_TEST((*r)->notes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(cancels_a_run_that_waits_for_a_hanging_webhook) {
  webhook_fixture f;
  auto request = source_run();
  request.id = run_id::make();
  run_answer_box box;
  f.engine().submit(someone(), request, box.handle(), {});
  BOOST_REQUIRE(f.webhook->wait_until_asked());
  answer<run_record> cancelled;
  f.engine().cancel(someone(), request.id, cancelled.handle());
  auto r = box.get();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(((*r)->reason == exit_reason::cancelled));
  f.webhook->answer_all(environment{});
  BOOST_TEST(f.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(goes_on_without_a_webhook_that_forgets_to_answer) {
  engine_options options;
  options.credentials.webhook_timeout = std::chrono::milliseconds{1};
  webhook_fixture f{options};
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_REQUIRE((*r)->notes.size() == 1u);
  BOOST_TEST((*r)->notes[0].find("in time") != std::string::npos);
  // The next one asks anew.
  f.webhook->always(variables("LATE", "1"));
  BOOST_REQUIRE(f.run(source_run()).has_value());
  BOOST_TEST(f.seen().contains("LATE"));
}

BOOST_AUTO_TEST_SUITE_END()
