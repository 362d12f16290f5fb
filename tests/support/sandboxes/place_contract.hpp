#pragma once

#include "runtime/engine/sandbox_files.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

/// What every place of living sandboxes must do, on this machine or at a
/// provider. A place is tested by calling `check_place` in a case of its own.
namespace troupe::test {

/// A process as its reader sees it, waited for from another thread.
class recorded_process {
public:
  process_events events() {
    process_events e;
    e.output = [s = state_](output_stream which, std::string_view bytes) {
      std::lock_guard lock{s->mutex};
      (which == output_stream::out ? s->out : s->err) += bytes;
      s->changed.notify_all();
    };
    e.ended = [s = state_](result<process_end> how) {
      std::lock_guard lock{s->mutex};
      ++s->ends;
      s->end = std::move(how);
      s->changed.notify_all();
    };
    return e;
  }
  result<process_end> end() {
    std::unique_lock lock{state_->mutex};
    if (!state_->changed.wait_for(lock, patience,
                                  [this] { return state_->end.has_value(); }))
      return fail(ec::timeout, "the test waited in vain for an end");
    return *state_->end;
  }
  bool says(std::string_view text) {
    std::unique_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, patience, [&] {
      return state_->out.find(text) != std::string::npos;
    });
  }
  std::string out() const { return locked(&state::out); }
  std::string err() const { return locked(&state::err); }
  int ends() const {
    std::lock_guard lock{state_->mutex};
    return state_->ends;
  }

private:
  static constexpr std::chrono::seconds patience{20};
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::string out, err;
    std::optional<result<process_end>> end;
    int ends = 0;
  };
  std::string locked(std::string state::*what) const {
    std::lock_guard lock{state_->mutex};
    return (*state_).*what;
  }
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// A place under test, called from a thread that is not its own.
class place_under_test {
public:
  place_under_test(sandbox_provider& provider,
                   boost::asio::any_io_executor executor)
      : provider_{provider}, executor_{std::move(executor)} {}

  sandbox_provider& provider() { return provider_; }

  static call_scope scope() {
    return {std::chrono::steady_clock::now() + std::chrono::seconds{30},
            nullptr};
  }
  /// A coroutine of the place, waited for.
  template <class Work>
  auto wait(Work work) {
    return boost::asio::co_spawn(executor_, std::move(work),
                                 boost::asio::use_future)
      .get();
  }
  /// The same for a call on the place's own thread that does not wait.
  template <class Work>
  auto ask(Work work) {
    std::promise<decltype(work())> told;
    boost::asio::post(executor_, [&] { told.set_value(work()); });
    return told.get_future().get();
  }

  sandbox_handle create(environment env = {}) {
    sandbox_request wanted;
    wanted.tag = "contract";
    wanted.lifetime = std::chrono::seconds{300};
    wanted.organization = default_organization();
    wanted.kind = run_kind::command;
    wanted.env = std::move(env);
    std::optional<sandbox_creation> made;
    wait([&]() -> boost::asio::awaitable<void> {
      auto limit = scope();
      made.emplace(co_await provider_.create(wanted, limit));
    });
    BOOST_REQUIRE_MESSAGE(made->sandbox, made->sandbox.error().text);
    return *made->sandbox;
  }
  result<void> destroy(const sandbox_handle& box) {
    auto work = [&] { return provider_.destroy(box, scope()); };
    return wait(std::move(work));
  }
  result<sandbox_process_ptr> start(const sandbox_handle& box,
                                    const std::string& line,
                                    recorded_process& heard,
                                    bool open_input = false,
                                    std::string input = {}) {
    process_request what;
    what.argv = {"/bin/sh", "-c", line};
    what.input = std::move(input);
    auto events = heard.events();
    auto work
      = [&] { return provider_.start(box, what, open_input, events, scope()); };
    return wait(std::move(work));
  }

private:
  sandbox_provider& provider_;
  boost::asio::any_io_executor executor_;
};

/// Processes with input and signals, where the place says that it has them.
inline void check_processes(place_under_test& at, const sandbox_handle& box) {
  recorded_process said;
  BOOST_REQUIRE(at.start(box, "echo out; echo err >&2; exit 3", said));
  auto end = said.end();
  BOOST_REQUIRE(end);
  BOOST_TEST(end->exit_code == 3);
  BOOST_TEST(!end->signaled);
  BOOST_TEST(said.out() == "out\n");
  BOOST_TEST(said.err() == "err\n");

  recorded_process reads;
  auto cat = at.start(box, "cat", reads, true, "one\n");
  BOOST_REQUIRE(cat);
  BOOST_TEST((*cat)->pid() > 0);
  BOOST_TEST(reads.says("one\n"));
  BOOST_TEST(at.ask([&] { return (*cat)->write("two\n"); }).has_value());
  BOOST_TEST(reads.says("two\n"));
  at.ask([&] { return (*cat)->close_input(), true; });
  BOOST_TEST(reads.end()->exit_code == 0);
  BOOST_TEST(reads.out() == "one\ntwo\n");

  recorded_process closed;
  BOOST_REQUIRE(at.start(box, "cat", closed));
  BOOST_TEST(closed.end()->exit_code == 0);

  recorded_process killed;
  auto sleeper = at.start(box, "echo up; sleep 1000 & wait", killed);
  BOOST_REQUIRE(sleeper);
  BOOST_TEST(killed.says("up"));
  BOOST_TEST(at.ask([&] { return (*sleeper)->signal(9); }).has_value());
  BOOST_TEST(killed.end()->signaled);
  BOOST_TEST(killed.end()->signal == 9);
  BOOST_TEST(killed.ends() == 1);
}

inline void check_files(place_under_test& at, const sandbox_handle& box) {
  auto* files = at.provider().files();
  if (!files)
    return;
  const auto limit = place_under_test::scope;
  const std::string bytes{"a\0b\xff\n", 5};
  auto write = [&] {
    return files->write(box, {{"/tmp/deep/er/file", bytes}}, limit());
  };
  BOOST_TEST(at.wait(write).has_value());
  auto read = [&] { return files->read(box, "/tmp/deep/er/file", limit()); };
  BOOST_TEST((*at.wait(read) == bytes));
  auto list = [&] { return files->list(box, "/tmp/deep", limit()); };
  auto found = at.wait(list);
  BOOST_REQUIRE(found);
  BOOST_REQUIRE(found->size() == 1u);
  BOOST_TEST(found->front().name == "er");
  BOOST_TEST(found->front().folder);
  auto stat = [&] { return files->stat(box, "/tmp/deep/er/file", limit()); };
  auto facts = at.wait(stat);
  BOOST_REQUIRE(facts);
  BOOST_TEST(facts->bytes == bytes.size());
  BOOST_TEST(!facts->folder);
  auto move
    = [&] { return files->move(box, "/tmp/deep/er/file", "/tmp/x", limit()); };
  BOOST_TEST(at.wait(move).has_value());
  BOOST_TEST((at.wait(read).error().code == ec::not_found));
  auto make = [&] { return files->make_folder(box, "/tmp/new/er", limit()); };
  BOOST_TEST(at.wait(make).has_value());
  BOOST_TEST(at.wait(make).has_value()); // one that is there is fine
  auto remove = [&] { return files->remove(box, "/tmp/deep", limit()); };
  BOOST_TEST(at.wait(remove).has_value());
  BOOST_TEST((at.wait(list).error().code == ec::not_found));
  auto relative = [&] { return files->read(box, "tmp/x", limit()); };
  BOOST_TEST((at.wait(relative).error().code == ec::invalid_request));
}

/// All of it, in sandboxes of our own; nothing is left.
inline void check_place(sandbox_provider& provider,
                        boost::asio::any_io_executor executor) {
  place_under_test at{provider, std::move(executor)};
  environment env;
  env.emplace("GREETING", secret{"hello"});
  const auto one = at.create(env);
  const auto other = at.create();
  BOOST_TEST(one.id != other.id);
  if (provider.capabilities().processes) {
    recorded_process greets;
    BOOST_REQUIRE(at.start(one, "echo $GREETING", greets));
    BOOST_TEST(greets.end()->exit_code == 0);
    BOOST_TEST(greets.out() == "hello\n");
    check_processes(at, one);
  }
  check_files(at, one);
  if (provider.capabilities().renew) {
    auto again = [&] {
      return provider.reconnect(one, std::chrono::seconds{60},
                                place_under_test::scope());
    };
    BOOST_TEST(at.wait(again).has_value());
  }
  // What runs in a sandbox ends with it, and says so.
  recorded_process sleeps;
  if (provider.capabilities().processes)
    BOOST_REQUIRE(at.start(one, "sleep 1000", sleeps));
  BOOST_TEST(at.destroy(one).has_value());
  if (provider.capabilities().processes) {
    (void)sleeps.end();
    BOOST_TEST(sleeps.ends() == 1);
    recorded_process late;
    BOOST_TEST(!at.start(one, "true", late));
  }
  BOOST_TEST(at.destroy(one).has_value()); // gone already is fine
  BOOST_TEST(at.destroy(other).has_value());
  if (provider.capabilities().renew) {
    auto again = [&] {
      return provider.reconnect(one, std::chrono::seconds{60},
                                place_under_test::scope());
    };
    BOOST_TEST((at.wait(again).error().code == ec::not_found));
  }
}

} // namespace troupe::test
