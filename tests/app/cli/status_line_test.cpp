// What a command shows on a terminal while it waits.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

#include <fstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(on_a_terminal)

namespace {

/// A terminal of our own, and a program whose standard error it is.
class terminal {
public:
  terminal() : master_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)} {
    BOOST_REQUIRE(master_ >= 0);
    BOOST_REQUIRE(::grantpt(master_) == 0);
    BOOST_REQUIRE(::unlockpt(master_) == 0);
  }
  ~terminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(master_);
  }

  void start(std::vector<std::string> words) {
    words.insert(words.begin(), TROUPE_BINARY_DIR "/troupe");
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, ::ptsname(master_),
                                       O_RDWR | O_NOCTTY, 0);
    BOOST_REQUIRE(
      ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ)
      == 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  std::string read_until(std::string_view wanted) {
    std::string seen;
    pollfd ready{master_, POLLIN, 0};
    while (!contains(seen, wanted) && ::poll(&ready, 1, 60'000) > 0) {
      char some[512];
      auto n = ::read(master_, some, sizeof some);
      if (n <= 0)
        break;
      seen.append(some, static_cast<std::size_t>(n));
    }
    return seen;
  }

private:
  int master_;
  pid_t pid_ = -1;
};

} // namespace

BOOST_AUTO_TEST_CASE(output_is_seen_while_the_tool_still_runs) {
  temporary_folder folder;
  serving engine{folder};
  auto server = "--server=http://" + engine.address();
  auto path = (folder.path / "waits.py").string();
  std::ofstream{path} << "import signal\ndef waits() -> int:\n"
                         "    \"\"\"Waits.\"\"\"\n"
                         "    print('begun', flush=True)\n"
                         "    signal.pause()\n    return 1\n";
  auto put = run_program({"tool", "put", path, server}, folder.path);
  BOOST_TEST_REQUIRE(put.code == 0, put.err);
  terminal screen;
  screen.start({"tool", "run", "waits", server});
  auto seen = screen.read_until("begun");
  BOOST_TEST(contains(seen, "begun"), seen);
}

BOOST_AUTO_TEST_CASE(long_work_is_counted_on_one_line) {
  temporary_folder folder;
  serving engine{folder};
  terminal screen;
  screen.start(
    {"bench", "--count", "100000", "--server=http://" + engine.address()});
  auto seen = screen.read_until(" of 100000 runs");
  BOOST_TEST(contains(seen, " of 100000 runs"), seen);
  BOOST_TEST(contains(seen, "\r\x1b[2K"));
}

BOOST_AUTO_TEST_SUITE_END()
