#include "tests/app/serving.hpp"

#include <sys/ptrace.h>

#include <fstream>
#include <iterator>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(stalled_threads)

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A thread of another process, held still as by a call that does not return.
class held_thread {
public:
  /// The first of that name; `held()` is false where nobody may do so.
  held_thread(pid_t process, std::string_view name) {
    auto tasks
      = std::filesystem::path{"/proc"} / std::to_string(process) / "task";
    for (auto& each : std::filesystem::directory_iterator{tasks})
      if (id_ == 0 && text_of(each.path() / "comm").starts_with(name))
        id_ = std::stoi(each.path().filename());
    held_ = id_ != 0 && ::ptrace(PTRACE_SEIZE, id_, nullptr, nullptr) == 0
      && ::ptrace(PTRACE_INTERRUPT, id_, nullptr, nullptr) == 0
      && ::waitpid(id_, nullptr, __WALL) == id_;
  }

  bool held() const { return held_; }
  /// Until the process is no more.
  void wait_for_its_end() {
    int status = 0;
    while (::waitpid(id_, &status, __WALL) == id_ && !WIFEXITED(status)
           && !WIFSIGNALED(status))
      ::ptrace(PTRACE_CONT, id_, nullptr, nullptr);
  }

private:
  pid_t id_ = 0;
  bool held_ = false;
};

/// A process that hides its memory is held by root alone.
boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id) {
  return ::geteuid() == 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(end_the_engine_so_that_it_is_started_again,
                     *boost::unit_test::precondition(is_root)) {
  temporary_folder folder;
  serving engine{folder,
                 {"--engine.io-threads=2", "--watchdog.warn-after=1s",
                  "--watchdog.exit-after=3s"}};
  auto address = engine.address();
  BOOST_TEST(ask(address, "GET /metrics").find("\ntroupe_stalled_threads 0\n")
             != std::string::npos);
  held_thread stuck{engine.pid(), "troupe-http"};
  BOOST_TEST_REQUIRE(stuck.held());
  stuck.wait_for_its_end();
  BOOST_TEST(engine.end(0) == 70);
  auto log = text_of(folder.path / "serve.log");
  BOOST_TEST(log.find("an io thread is stuck") != log.npos, log);
  auto last = log.rfind('\n', log.size() - 2) + 1;
  BOOST_TEST(
    log.find("watchdog: exiting, thread http has been stuck for 3 s", last)
      != log.npos,
    log);
  // What it leaves behind can be opened at once.
  serving next{folder};
  BOOST_TEST(ask(next.address(), "GET /livez").find(" 200 ")
             != std::string::npos);
  BOOST_TEST(next.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
