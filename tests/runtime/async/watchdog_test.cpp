#include "runtime/async/io_thread.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/base/log.hpp"
#include "tests/support/http/metrics_check.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <latch>
#include <memory>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(watchdogs)

namespace {

using time_point = watchdog::clock::time_point;

/// A log that keeps its lines: "warning text name=value".
struct kept_log {
  static inline std::mutex mutex;
  static inline std::vector<std::string> lines;

  kept_log() {
    lines.clear();
    log::connect(
      [](log::level l, std::string_view text, log::fields more) noexcept {
        auto line = std::string{log::to_string(l)} + " " + std::string{text};
        for (auto& f : more)
          line.append(" ").append(f.name).append("=").append(f.value);
        std::lock_guard lock{mutex};
        lines.push_back(std::move(line));
      },
      log::level::info);
  }
  ~kept_log() { log::connect(nullptr, log::level::off); }
};

/// Somebody who answers, or does not.
struct answerer {
  bool willing = true;
  std::function<void()> owed;
  watchdog::question question() {
    return [this](std::function<void()> turned) {
      if (willing)
        turned();
      else
        owed = std::move(turned);
    };
  }
};

/// A thread that stands still for as long as this lives.
class blocked {
public:
  explicit blocked(io_thread& io) {
    boost::asio::post(io.executor(), [s = steps_] {
      s->reached.count_down();
      s->go_on.wait();
    });
    steps_->reached.wait();
  }
  ~blocked() { steps_->go_on.count_down(); }

private:
  // The thread's as well: it may still look at them when this has gone.
  struct steps {
    std::latch reached{1}, go_on{1};
  };
  const std::shared_ptr<steps> steps_ = std::make_shared<steps>();
};

/// Everything that was posted before has been done.
void catch_up(io_thread& io) {
  std::promise<void> done;
  boost::asio::post(io.executor(), [&] { done.set_value(); });
  done.get_future().wait();
}

std::string value_of(const watchdog& w, const std::string& name) {
  auto text = w.metrics();
  auto at = text.find("\n" + name + " ") + name.size() + 2;
  return text.substr(at, text.find('\n', at) - at);
}

} // namespace

BOOST_AUTO_TEST_CASE(
  says_once_that_a_thread_stands_still_and_once_that_it_turns) {
  kept_log log;
  io_thread io;
  watchdog w;
  auto watched = w.turns("local runs", io.executor());
  time_point now{1h};
  w.turn(now);
  {
    catch_up(io);
    blocked stuck{io};
    w.turn(now += 1s); // answered before; asked again
    for (int i = 0; i < 4; ++i)
      w.turn(now += 1s);
    BOOST_TEST(log.lines.empty());
    BOOST_TEST(value_of(w, "troupe_stalled_threads") == "0");
    for (int i = 0; i < 4; ++i)
      w.turn(now += 1s);
    BOOST_TEST(value_of(w, "troupe_stalled_threads") == "1");
  }
  catch_up(io);
  w.turn(now += 1s);
  w.turn(now += 1s);
  BOOST_TEST(
    log.lines
      == (std::vector<std::string>{
        "warning watchdog: an io thread is stuck thread=local runs for=5 s",
        "info watchdog: the io thread has recovered thread=local runs after=9 "
        "s"}),
    boost::test_tools::per_element());
  BOOST_TEST(value_of(w, "troupe_stalled_threads") == "0");
  BOOST_TEST(value_of(w, "troupe_thread_stalls_total") == "1");
  for (const auto& problem : test::metrics_check{}.problems(w.metrics()))
    BOOST_TEST_ERROR(problem);
}

BOOST_AUTO_TEST_CASE(
  ends_the_process_for_a_thread_that_goes_on_standing_still) {
  for (auto end_after : {60s, 0s}) {
    io_thread io;
    std::vector<std::string> ends;
    watchdog_options o;
    o.end_after = end_after;
    o.end = [&](std::string_view why) { ends.emplace_back(why); };
    watchdog w{o};
    blocked stuck{io};
    auto watched = w.turns("http", io.executor());
    time_point now{1h};
    for (int i = 0; i < 60; ++i)
      w.turn(now += 1s);
    BOOST_TEST(ends.empty());
    w.turn(now += 1s);
    BOOST_TEST(ends.size() == (end_after > 0s ? 1u : 0u));
    if (!ends.empty())
      BOOST_TEST(ends.front()
                 == "watchdog: exiting, thread http has been stuck for 60 s");
  }
}

// A signal that stops the process, a laptop that sleeps, a machine that is
// paged out: nobody turned then, the watchdog neither.
BOOST_AUTO_TEST_CASE(blames_nobody_for_time_in_which_nothing_ran) {
  answerer thread;
  bool ended = false;
  watchdog_options o;
  o.end = [&](std::string_view) { ended = true; };
  watchdog w{o};
  auto watched = w.turns("x", boost::asio::any_io_executor{});
  watched.stop(); // what it posts to is of no interest here
  watched = w.answers("x", thread.question());
  kept_log log;
  time_point now{1h};
  thread.willing = false;
  w.turn(now);
  w.turn(now += 1h);
  w.turn(now += 1h); // twice two seconds
  BOOST_TEST(log.lines.empty());
  w.turn(now += 1h);
  BOOST_TEST(log.lines.size() == 1u);
  BOOST_TEST(!ended);
}

BOOST_AUTO_TEST_CASE(does_not_end_the_process_for_an_answer_that_takes_long) {
  answerer actors;
  actors.willing = false;
  int ended = 0, well = 0;
  watchdog_options o;
  o.end = [&](std::string_view) { ++ended; };
  o.all_well = [&] { ++well; };
  o.well_within = 3s;
  watchdog w{o};
  auto watched = w.answers("the actors", actors.question());
  time_point now{1h};
  for (int i = 0; i < 100; ++i)
    w.turn(now += 1s);
  BOOST_TEST(ended == 0);
  BOOST_TEST(well == 3); // asked, and two seconds later
  actors.owed();
  actors.willing = true;
  w.turn(now += 1s);
  w.turn(now += 1s);
  BOOST_TEST(well == 5);
}

BOOST_AUTO_TEST_CASE(asks_nobody_who_is_not_watched_any_more) {
  int asked = 0;
  auto w = std::make_unique<watchdog>();
  auto watched
    = w->answers("x", [&](const std::function<void()>&) { ++asked; });
  time_point now{1h};
  for (int i = 0; i < 9; ++i)
    w->turn(now += 1s);
  BOOST_TEST(asked == 1);
  BOOST_TEST(value_of(*w, "troupe_stalled_threads") == "1");
  watched.stop();
  BOOST_TEST(value_of(*w, "troupe_stalled_threads") == "0");
  watched = w->answers("y", [&](const std::function<void()>&) { ++asked; });
  w.reset(); // before what it watched
  watched.stop();
  BOOST_TEST(asked == 1);
}

BOOST_AUTO_TEST_CASE(ends_what_is_not_over_in_time_and_nothing_else) {
  std::promise<std::string> ended;
  watchdog_options o;
  o.every = 1ms;
  o.end = [&, told = false](std::string_view why) mutable {
    if (!std::exchange(told, true))
      ended.set_value(std::string{why});
  };
  watchdog w{o};
  auto slow = w.is_over("the stop", 2ms);
  auto patient = w.is_over("the hour", 1h);
  w.start();
  BOOST_TEST(ended.get_future().get()
             == "watchdog: exiting, the stop did not finish in time");
  slow.stop();
}

BOOST_AUTO_TEST_CASE(leaves_a_process_with_a_blocked_thread_by_its_exit_code) {
  int out[2];
  BOOST_REQUIRE(::pipe(out) == 0);
  auto child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(out[1], STDERR_FILENO);
    io_thread io;
    blocked stuck{io};
    watchdog_options o;
    o.every = 1ms;
    o.warn_after = 5ms;
    o.end_after = 20ms;
    watchdog w{o};
    auto watched = w.turns("http", io.executor());
    w.start();
    std::latch{1}.wait();
  }
  ::close(out[1]);
  std::string said;
  char some[256];
  for (ssize_t n = 0; (n = ::read(out[0], some, sizeof some)) > 0;)
    said.append(some, static_cast<std::size_t>(n));
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 70);
  BOOST_TEST(said == "watchdog: exiting, thread http has been stuck for 0 s\n");
}

BOOST_AUTO_TEST_SUITE_END()
