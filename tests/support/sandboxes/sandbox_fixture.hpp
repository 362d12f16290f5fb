#pragma once

#include "runtime/engine/sandbox_engine.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/sandboxes/memory_sandbox_records.hpp"
#include "tests/support/sandboxes/toy_provider.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace troupe::test {

/// The one answer of a call about sandboxes, waited for with a limit.
template <class T>
class sandbox_box {
public:
  sandbox_handler<T> handle() {
    return
      [state = state_](sandbox_result<T> r) { state->set_value(std::move(r)); };
  }
  bool is_there() {
    return future_.wait_for(std::chrono::seconds{0})
      == std::future_status::ready;
  }
  sandbox_result<T> get() {
    if (future_.wait_for(std::chrono::seconds{20}) != std::future_status::ready)
      return sandbox_error{fail(ec::internal, "the test waited in vain")};
    return future_.get();
  }

private:
  std::shared_ptr<std::promise<sandbox_result<T>>> state_
    = std::make_shared<std::promise<sandbox_result<T>>>();
  std::future<sandbox_result<T>> future_ = state_->get_future();
};

/// Waits until something is so, or too long.
inline bool until(const std::function<bool()>& so) {
  const auto limit
    = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!so()) {
    if (std::chrono::steady_clock::now() > limit)
      return false;
    std::this_thread::yield();
  }
  return true;
}

/// An engine with sandboxes at a toy, and a clock that tests step.
struct sandbox_fixture {
  explicit sandbox_fixture(sandbox_rules rules = {},
                           std::function<void(sandbox_fixture&)> before = {}) {
    if (before)
      before(*this);
    engine_options o;
    o.sandboxes.store = store;
    o.sandboxes.places.push_back(
      {backend_kind::local, toy.provider, toy.executor(), 100});
    rules.tick = std::chrono::milliseconds{1};
    o.sandboxes.rules = rules;
    o.sandboxes.now = [clock = clock] {
      return sandbox_options::clock::time_point{}
      + std::chrono::milliseconds{clock->load()};
    };
    o.drain_timeout = std::chrono::milliseconds{20};
    troop = std::make_unique<engine_fixture>(scripted_backend::mode::answer,
                                             std::move(o));
  }
  ~sandbox_fixture() { troop.reset(); }

  sandbox_engine& engine() { return troop->host->sandboxes(); }
  void step(std::chrono::milliseconds by) { *clock += by.count(); }

  sandbox_result<sandbox_record_ptr> create(sandbox_spec what = {},
                                            caller who = someone()) {
    sandbox_box<sandbox_record_ptr> box;
    engine().create(std::move(who), std::move(what), box.handle());
    return box.get();
  }
  sandbox_id running(sandbox_spec what = {}) {
    auto made = create(std::move(what));
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
    return (*made)->id;
  }
  sandbox_result<sandbox_record_ptr> find(const sandbox_id& id,
                                          caller who = someone()) {
    sandbox_box<sandbox_record_ptr> box;
    engine().find(std::move(who), id, box.handle());
    return box.get();
  }
  using record_result = sandbox_result<sandbox_record_ptr>;
  /// A call that answers with what is known of a sandbox.
  template <class Call>
  record_result told(Call call) {
    sandbox_box<sandbox_record_ptr> box;
    call(box.handle());
    return box.get();
  }
  record_result pause(const sandbox_id& id) {
    return told([&](auto done) { engine().pause(someone(), id, done); });
  }
  record_result resume(const sandbox_id& id) {
    return told([&](auto done) { engine().resume(someone(), id, done); });
  }
  record_result connect(const sandbox_id& id,
                        std::optional<std::chrono::milliseconds> timeout = {}) {
    return told(
      [&](auto done) { engine().connect(someone(), id, timeout, done); });
  }
  record_result change(const sandbox_id& id, const sandbox_change& what) {
    return told([&](auto done) { engine().change(someone(), id, what, done); });
  }
  std::vector<sandbox_event> events(const sandbox_id& id) {
    sandbox_box<sandbox_events_ptr> box;
    engine().events(someone(), id, box.handle());
    auto found = box.get();
    BOOST_REQUIRE(found);
    return (*found)->read(0, 1'000);
  }
  bool is_in(const sandbox_id& id, sandbox_state wanted) {
    return until([&] {
      auto now = find(id);
      return now && (*now)->state == wanted;
    });
  }
  sandbox_result<void> remove(const sandbox_id& id, caller who = someone()) {
    sandbox_box<void> box;
    engine().remove(std::move(who), id, box.handle());
    return box.get();
  }
  sandbox_result<sandbox_program_ptr> start(const sandbox_id& id,
                                            process_spec what) {
    sandbox_box<sandbox_program_ptr> box;
    engine().start(someone(), id, std::move(what), box.handle());
    return box.get();
  }
  sandbox_result<sandbox_program_ptr> start(const sandbox_id& id,
                                            const std::string& line) {
    process_spec what;
    what.command = line;
    return start(id, what);
  }
  /// To its end.
  process_record finish(const sandbox_program_ptr& process) {
    auto over = std::make_shared<std::promise<void>>();
    process->when_ended([over] { over->set_value(); });
    BOOST_REQUIRE((over->get_future().wait_for(std::chrono::seconds{20})
                   == std::future_status::ready));
    return process->record();
  }
  bool ended(const sandbox_id& id, sandbox_end why) {
    return until([&] {
      auto now = find(id);
      return now ? is_over((*now)->state) && (*now)->end == why
                 : now.error().problem == sandbox_problem::sandbox_ended
          && now.error().text.find(to_string(why)) != std::string::npos;
    });
  }

  toy_place toy;
  std::shared_ptr<memory_sandbox_records> store
    = std::make_shared<memory_sandbox_records>();
  std::shared_ptr<std::atomic<std::int64_t>> clock
    = std::make_shared<std::atomic<std::int64_t>>(0);
  std::unique_ptr<engine_fixture> troop;
};

} // namespace troupe::test
