// The engine over the real local backend, while executors, dispatchers and the
// warden are killed, runs are cancelled and deadlines pass.
#include "runtime/local/local_backend.hpp"
#include "tests/actors/chaos.hpp"
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
    options.zygote.armed = 2;
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

run_request something(std::mt19937& random, const std::string& word) {
  auto request = source_run();
  request.id = run_id::make();
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
  request.idempotent = random() % 2 == 0;
  if (random() % 5 == 0)
    request.deadline = std::chrono::milliseconds{5 + random() % 200};
  if (random() % 10 == 0)
    request.idempotency_key = "key-" + std::to_string(random() % 10);
  return request;
}

engine_options options_over(std::shared_ptr<backend> carrier) {
  engine_options options;
  options.threads = 2;
  options.backends = {std::move(carrier)};
  options.rules.standard_backend = backend_kind::local;
  options.admission.running = 12;
  options.admission.waiting = 10'000;
  options.admission.waiting_per_organization = 10'000;
  options.breaker.failures = 1'000; // it is killed on purpose
  options.supervision.first_pause = std::chrono::milliseconds{1};
  return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_every_run_once_whoever_dies_beneath_it) {
  const auto count = chaos_number("TROUPE_CHAOS_LOCAL_REQUESTS", 400);
  BOOST_TEST_MESSAGE("TROUPE_CHAOS_SEED=" << chaos_seed());
  std::mt19937 random{chaos_seed()};
  const auto word = "98761" + std::to_string(::getpid());
  tests::temporary_directory state;
  std::vector<std::string> groups;
  std::size_t wardens = 0;
  {
    local_house house{state.path()};
    if (auto able = house.backend->wait_until_probed(); !able) {
      BOOST_TEST_MESSAGE("skipped: " << to_string(able.error()));
      return;
    }
    auto opened = open_engine(options_over(house.backend));
    BOOST_REQUIRE_MESSAGE(opened.has_value(), troupe::test::why(opened));
    auto& host = **opened;
    auto& e = host.engine();
    chaos_tally t{count};
    std::vector<run_id> ids;
    for (std::size_t i = 0; i < count; ++i) {
      // So that deaths meet runs of all ages: not all at once.
      for (auto n = t.done.load(); i > n + 24; n = t.done.load())
        t.done.wait(n);
      auto request = something(random, word);
      ids.push_back(request.id);
      e.submit(someone(), std::move(request), t.answer_of(i), t.events_of(i));
      if (random() % 4 == 0)
        e.cancel(someone(), ids[random() % ids.size()], [](auto) {});
      if (random() % 80 == 0)
        kill_an_actor(host, random);
      if (i % 100 == 50)
        if (auto warden = house.backend->warden_pid(); warden > 0)
          wardens += ::kill(warden, SIGKILL) == 0 ? 1 : 0;
    }
    for (const auto& id : ids) // those that nobody would end before its limit
      e.cancel(someone(), id, [](auto) {});
    t.wait(std::chrono::seconds{120});
    host.stop();
    t.check();
    BOOST_TEST(t.successes > 0u); // it was not all chaos
    check_counters_are_zero(e);
    groups = groups_of(house.backend->instance_directory());
  }
  BOOST_TEST(wardens > 0u);
  BOOST_TEST(processes_that_say(word) == 0u);
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
  BOOST_TEST(text_in("/proc/self/mountinfo").find(state.path().string())
             == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
