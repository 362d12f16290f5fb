// `troupe sandbox shell` as a user has it: the real binary at a terminal of
// this machine, a shell in a sandbox at the other end.
#include "tests/app/serving.hpp"

#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <utmp.h>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(shells_in_sandboxes)

namespace {

/// A command at a terminal.
class at_terminal {
public:
  explicit at_terminal(std::vector<std::string> words) {
    words.insert(words.begin(), TROUPE_BINARY_DIR "/troupe");
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 30;
    // Held open, so that its settings are there when the command has ended.
    BOOST_REQUIRE(::openpty(&ours_, &its_, nullptr, nullptr, &size) == 0);
    BOOST_REQUIRE(::tcgetattr(its_, &before_) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ours_);
      ::login_tty(its_);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ~at_terminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(ours_);
    ::close(its_);
  }

  void type(const std::string& keys) {
    BOOST_TEST(::write(ours_, keys.data(), keys.size())
               == static_cast<ssize_t>(keys.size()));
  }
  bool shows(const std::string& text) {
    while (shown_.find(text) == shown_.npos) {
      pollfd wait{ours_, POLLIN, 0};
      char some[4096];
      const auto n
        = ::poll(&wait, 1, 30'000) > 0 ? ::read(ours_, some, sizeof some) : 0;
      if (n <= 0)
        return false;
      shown_.append(some, static_cast<std::size_t>(n));
    }
    return true;
  }
  const std::string& shown() const { return shown_; }
  void resize(unsigned short columns, unsigned short rows) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = rows;
    BOOST_TEST(::ioctl(ours_, TIOCSWINSZ, &size) == 0);
  }
  void signal(int number) { ::kill(pid_, number); }

  /// Its exit code. The terminal is as it was.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    termios after{};
    BOOST_TEST(::tcgetattr(its_, &after) == 0);
    BOOST_TEST(after.c_lflag == before_.c_lflag);
    BOOST_TEST(after.c_iflag == before_.c_iflag);
    BOOST_TEST(after.c_oflag == before_.c_oflag);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  int ours_ = -1;
  int its_ = -1;
  pid_t pid_ = -1;
  termios before_{};
  std::string shown_;
};

struct shell_house {
  shell_house() {
    auto made = talk(address, "POST /v1/sandboxes", "{}");
    id = std::string{made.body.at("id").as_string()};
  }
  std::vector<std::string> words(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"sandbox", "shell",
                                 "--server=http://" + address, id};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  temporary_folder folder;
  serving engine{folder};
  std::string address = engine.address();
  std::string id;
};

} // namespace

BOOST_AUTO_TEST_CASE(are_typed_into_resized_and_give_their_exit_code) {
  shell_house house;
  at_terminal shell{house.words()};
  shell.type("echo $((40+2)); stty size; tty\n");
  BOOST_TEST(shell.shows("42\r\n"), shell.shown());
  BOOST_TEST(shell.shows("30 100\r\n"), shell.shown());
  BOOST_TEST(shell.shows("/dev/pts/0\r\n"), shell.shown());
  shell.type("trap 'stty size' WINCH\n");
  // Not a shell that becomes `sleep`: a signal in between would be lost.
  shell.type("python3 -c 'import time; print(\"u\" + \"p\", flush=True); "
             "time.sleep(1000)'\n");
  BOOST_TEST(shell.shows("up\r\n"), shell.shown());
  shell.type("\x03"); // for what runs there, not for the command here
  shell.type("echo status $?\n");
  BOOST_TEST(shell.shows("status 130"), shell.shown());
  shell.resize(120, 40);
  BOOST_TEST(shell.shows("40 120"), shell.shown());
  shell.type("exit 7\n");
  BOOST_TEST(shell.wait() == 7);
}

BOOST_AUTO_TEST_CASE(go_on_when_they_are_left_and_can_be_come_back_to) {
  shell_house house;
  std::string process;
  {
    at_terminal shell{house.words({"--", "/bin/sh", "-i"})};
    shell.type("x=kept; echo rea''dy\n");
    BOOST_TEST(shell.shows("ready"), shell.shown());
    shell.type("\x1d");
    BOOST_TEST(shell.shows("--attach p_"), shell.shown());
    const auto at = shell.shown().find("--attach p_") + 9;
    process = shell.shown().substr(at, shell.shown().find('`', at) - at);
    BOOST_TEST(shell.wait() == 0);
  }
  {
    at_terminal again{house.words({"--attach", process})};
    BOOST_TEST(again.shows("ready"), again.shown()); // what it has shown
    again.type("echo still $x\n");
    BOOST_TEST(again.shows("still kept"), again.shown());
    again.signal(SIGTERM);
    BOOST_TEST(again.wait() == 128 + SIGTERM);
  }
  at_terminal last{house.words({"--attach", process})};
  last.type("exec kill -9 $$\n");
  BOOST_TEST(last.wait() == 128 + SIGKILL);
}

BOOST_AUTO_TEST_CASE(say_why_there_is_none) {
  shell_house house;
  at_terminal unknown{house.words({"--attach", "p_none"})};
  BOOST_TEST(unknown.shows("there is no process"), unknown.shown());
  BOOST_TEST(unknown.wait() == 66);
  at_terminal lost{house.words({"--", "/bin/sh", "-i"})};
  lost.type("echo u''p\n");
  BOOST_TEST(lost.shows("up\r\n"), lost.shown());
  house.engine.end(SIGKILL);
  BOOST_TEST(lost.shows("connection to the engine is lost"), lost.shown());
  BOOST_TEST(lost.wait() == 69);
}

BOOST_AUTO_TEST_SUITE_END()
