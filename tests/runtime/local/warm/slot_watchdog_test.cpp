#include "runtime/local/warm/slot_watchdog.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

using namespace troupe;
using namespace troupe::zygote;

BOOST_AUTO_TEST_SUITE(slot_watchdogs)

/// What a launcher would have, and what it was told.
class watched final : public watched_slots {
public:
  std::vector<warm_run_ptr> running() const override { return runs; }
  std::vector<slot_ptr> slots() const override { return all; }
  bool is_quiet() const override { return runs.empty() && all.empty(); }
  void on_cpu_exceeded(const warm_run&) override {
    ++cpu_exceeded;
    runs.clear();
  }
  void on_kill_ignored(const warm_run&) override {
    ++kills_ignored;
    runs.clear();
  }
  void on_still_there(const slot_ptr& s) override {
    ++still_there;
    std::erase(all, s);
  }
  void on_not_made(const slot_ptr& s) override {
    ++not_made;
    std::erase(all, s);
  }

  std::vector<warm_run_ptr> runs;
  std::vector<slot_ptr> all;
  int cpu_exceeded = 0, kills_ignored = 0, still_there = 0, not_made = 0;
};

struct fixture {
  slot_ptr make_slot(slot_sandbox on = {}) {
    return std::make_shared<slot>(io.get_executor(), "key", std::move(on));
  }
  warm_run_ptr make_run(slot_ptr on) {
    auto prepared = std::make_shared<prepared_run>();
    prepared->limits.cpu = std::chrono::milliseconds{10};
    auto run = std::make_shared<warm_run>();
    run->what.run = std::move(prepared);
    run->on = std::move(on);
    return run;
  }
  /// Until there is nothing to look at.
  void look() {
    dog->begin(seen);
    dog->begin(seen); // is at work already
    io.run();
  }

  boost::asio::io_context io;
  std::shared_ptr<watched> seen = std::make_shared<watched>();
  std::shared_ptr<slot_watchdog> dog = std::make_shared<slot_watchdog>(
    io.get_executor(), std::chrono::milliseconds{0},
    std::chrono::milliseconds{0});
};

void write_clock(const unique_fd& file, std::string_view text) {
  BOOST_REQUIRE(::pwrite(file.get(), text.data(), text.size(), 0)
                == static_cast<ssize_t>(text.size()));
}

BOOST_FIXTURE_TEST_CASE(tell_of_a_run_that_does_not_end_in_time, fixture) {
  auto run = make_run(make_slot());
  run->kill_asked = true;
  run->kill_by = warm_run::clock::now();
  seen->runs = {run};
  look();
  BOOST_TEST(seen->kills_ignored == 1);
  BOOST_TEST(seen->cpu_exceeded == 0);
  BOOST_TEST((run->kill_by == warm_run::clock::time_point::max()));
}

BOOST_FIXTURE_TEST_CASE(tell_of_a_group_that_used_more_than_its_run_may,
                        fixture) {
  slot_sandbox on;
  on.cpu.reset(::memfd_create("cpu.stat", MFD_CLOEXEC));
  write_clock(on.cpu, "usage_usec 5000\n");
  const unique_fd same{::dup(on.cpu.get())};
  auto run = make_run(make_slot(std::move(on)));
  run->cpu_before = 5'000; // it began there
  seen->runs = {run};
  write_clock(same, "usage_usec 20000\n");
  look();
  BOOST_TEST(seen->cpu_exceeded == 1);
  BOOST_TEST(run->cpu_exceeded);
}

BOOST_FIXTURE_TEST_CASE(tell_of_slots_that_neither_come_nor_go, fixture) {
  const auto late = make_slot(), over = make_slot();
  over->now = slot::state::over;
  seen->all = {late, over};
  look();
  BOOST_TEST(seen->not_made == 1);
  BOOST_TEST(seen->still_there == 1);
}

BOOST_AUTO_TEST_SUITE_END()
