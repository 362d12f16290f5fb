// Everything at once over one engine: real runs beside runs of moody backends,
// a slow store, a webhook that hangs, while actors and the warden are killed,
// runs are cancelled and deadlines pass.
#include "runtime/local/local_backend.hpp"
#include "tests/actors/engine/chaos.hpp"
#include "tests/actors/engine/flaky_backend.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(chaos_local_suite)

namespace {

/// A local backend with a thread of its own.
class local_house {
public:
  explicit local_house(const fs::path& state) : thread_{[this] { io_.run(); }} {
    local_options options;
    options.state_dir = state;
    options.zygote.preforked = 2;
    auto opened = local_backend::open(io_.get_executor(), std::move(options));
    BOOST_REQUIRE_MESSAGE(opened.has_value(), troupe::test::why(opened));
    backend = *opened;
  }
  ~local_house() {
    backend->stop();
    backend.reset();
    busy_.reset();
    thread_.join();
  }

  std::shared_ptr<local_backend> backend;

private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    busy_{io_.get_executor()};
  std::thread thread_;
};

std::string text_in(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t processes_that_say(const std::string& word) {
  std::size_t n = 0;
  std::error_code ignored;
  for (const auto& p : fs::directory_iterator("/proc", ignored))
    if (text_in(p.path() / "cmdline").find(word) != std::string::npos)
      ++n;
  return n;
}

std::vector<std::string> groups_of(const std::string& instance) {
  std::vector<std::string> groups;
  std::ifstream file{fs::path{instance} / "cgroups"};
  for (std::string line; std::getline(file, line);)
    groups.push_back(line);
  return groups;
}

/// For this machine: ends by itself, by a limit, or when somebody ends it.
run_request something_real(std::mt19937& random, const std::string& word) {
  auto request = source_run();
  request.backend = backend_kind::local;
  switch (random() % 4) {
  case 0: // until somebody ends it
    request.kind = run_kind::command;
    request.command = "sleep " + word;
    request.deadline = std::chrono::milliseconds{50 + random() % 500};
    break;
  case 1: // leaves a child behind
    request.kind = run_kind::command;
    request.command = "sleep " + word + " & echo begun";
    break;
  case 2:
    request.source = "def f(): raise ValueError('on purpose')";
    break;
  default:
    break;
  }
  if (random() % 5 == 0)
    request.deadline = std::chrono::milliseconds{5 + random() % 200};
  return request;
}

/// Mostly for a moody backend; a few may go wherever there is a place.
run_request something(std::mt19937& random, const std::string& word) {
  const auto dice = random() % 100;
  if (dice < 4)
    return something_real(random, word);
  auto request = source_run();
  request.deadline = std::chrono::milliseconds{20 + random() % 1'000};
  if (dice > 4)
    request.backend = random() % 2 ? backend_kind::e2b : backend_kind::aio;
  return request;
}

engine_options options_over(std::shared_ptr<backend> carrier,
                            std::shared_ptr<moody_webhook> webhook) {
  engine_options options;
  options.threads = 2;
  options.webhook = std::move(webhook);
  options.credentials.keep_for = std::chrono::milliseconds{0};
  options.journal = std::make_shared<slow_journal>(chaos_seed() + 4);
  options.backends
    = {std::move(carrier),
       std::make_shared<moody_backend>(backend_kind::e2b, chaos_seed() + 2),
       std::make_shared<moody_backend>(backend_kind::aio, chaos_seed() + 3)};
  options.rules.standard_backend = backend_kind::e2b;
  options.admission.running = 64;
  options.admission.running_per_backend[backend_kind::local] = 12;
  options.admission.waiting = 10'000;
  options.admission.waiting_per_organization = 10'000;
  options.breaker.failures = 1'000; // it is killed on purpose
  options.deadlines.grace = std::chrono::milliseconds{50};
  options.supervision.first_pause = std::chrono::milliseconds{1};
  options.supervision.longest_pause = std::chrono::milliseconds{20};
  return options;
}

/// One engine's whole life; `groups`: the cgroups it had.
void live_through(const fs::path& state, std::size_t count,
                  const std::string& word, std::vector<std::string>& groups) {
  local_house house{state};
  std::mt19937 random{chaos_seed()};
  std::size_t wardens = 0;
  auto webhook = std::make_shared<moody_webhook>(chaos_seed() + 1);
  chaos_tally t{count}; // whoever is still answered at the end is counted
  auto opened = open_engine(options_over(house.backend, webhook));
  BOOST_REQUIRE_MESSAGE(opened.has_value(), troupe::test::why(opened));
  auto& host = **opened;
  chaos_traffic traffic{host, t, random};
  for (std::size_t i = 0; i < count; ++i) {
    // So that deaths meet runs of all ages: not all at once.
    for (auto n = t.done.load(); i > n + 256; n = t.done.load())
      t.done.wait(n);
    traffic.submit(something(random, word));
    if (random() % 50 == 0)
      webhook->give_up();
    if (i % (count / 4) == count / 8)
      if (auto warden = house.backend->warden_pid(); warden > 0)
        wardens += ::kill(warden, SIGKILL) == 0 ? 1 : 0;
  }
  traffic.cancel_all();
  webhook->give_up();
  t.wait(std::chrono::seconds{120});
  webhook->give_up();
  host.stop();
  t.check();
  BOOST_TEST(t.successes > 0u); // it was not all chaos
  check_counters_are_zero(host.engine());
  BOOST_TEST(wardens > 0u);
  groups = groups_of(house.backend->instance_directory());
}

bool is_able(const fs::path& state) {
  local_house house{state};
  auto able = house.backend->wait_until_probed();
  if (!able)
    BOOST_TEST_MESSAGE("skipped: " << to_string(able.error()));
  return able.has_value();
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_every_run_once_whoever_dies_beneath_it) {
  const auto count = chaos_number("TROUPE_CHAOS_REQUESTS", 10'000);
  BOOST_TEST_MESSAGE("TROUPE_CHAOS_SEED=" << chaos_seed());
  const auto word = "98761" + std::to_string(::getpid());
  tests::temporary_directory state;
  std::vector<std::string> groups;
  if (!is_able(state.path()))
    return;
  live_through(state.path(), 1'000, word, groups); // what is made once stays
  const auto before = heap_in_use();
  live_through(state.path(), count, word, groups);
  const auto after = heap_in_use();
  // A run that is kept costs a kilobyte at least.
  BOOST_TEST(after < before + count * 100,
             "the heap grew from " << before << " to " << after << " bytes");
  BOOST_TEST(processes_that_say(word) == 0u);
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
  BOOST_TEST(text_in("/proc/self/mountinfo").find(state.path().string())
             == std::string::npos);
}

BOOST_AUTO_TEST_CASE(leaves_no_group_of_a_warden_without_successor) {
  tests::temporary_directory state;
  if (!is_able(state.path()))
    return;
  std::vector<std::string> groups;
  {
    local_house house{state.path()};
    BOOST_REQUIRE(house.backend->wait_until_probed().has_value());
    engine_options options;
    options.backends.push_back(house.backend);
    options.rules.standard_backend = backend_kind::local;
    options.drain_timeout = std::chrono::milliseconds{0};
    std::promise<void> begun;
    auto opened = open_engine(std::move(options));
    BOOST_REQUIRE_MESSAGE(opened.has_value(), troupe::test::why(opened));
    auto request = source_run();
    request.kind = run_kind::command;
    request.command = "echo begun; exec sleep 600";
    auto look = [&, said = false](const run_event& e) mutable {
      if (e.kind == run_event_kind::out && !std::exchange(said, true))
        begun.set_value();
      return true;
    };
    run_answer_box box;
    (*opened)->engine().submit(someone(), request, box.handle(), look);
    begun.get_future().wait();
    groups = groups_of(house.backend->instance_directory());
    const auto warden = house.backend->warden_pid();
    BOOST_REQUIRE(warden > 0); // -1 would be everybody
    BOOST_REQUIRE(::kill(warden, SIGKILL) == 0);
    (*opened)->stop();
  }
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
}

BOOST_AUTO_TEST_SUITE_END()
