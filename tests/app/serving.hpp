#pragma once

#include "tests/app/ask.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <vector>

namespace troupe {

/// `troupe serve` as a user starts it: the real binary, a process of its own.
class serving {
public:
  explicit serving(const temporary_folder& folder,
                   const std::vector<std::string>& more = {}) {
    BOOST_REQUIRE(::pipe2(out_, O_CLOEXEC) == 0);
    std::vector<std::string> words{
      TROUPE_BINARY_DIR "/troupe",
      "serve",
      "--listen=127.0.0.1:0",
      "--data-dir=" + (folder.path / "data").string(),
      "--local.state-dir=" + (folder.path / "state").string(),
      "--engine.drain-timeout=5s",
    };
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out_[1], 1);
    BOOST_REQUIRE(
      ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ)
      == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(out_[1]);
  }
  ~serving() {
    close_reader();
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  /// What it prints, up to the hint how to try it.
  std::string greeting() {
    std::string seen;
    pollfd ready{out_[0], POLLIN, 0};
    while (seen.find("try: ") == seen.npos && ::poll(&ready, 1, 60'000) > 0) {
      char some[512];
      auto n = ::read(out_[0], some, sizeof some);
      if (n <= 0)
        break;
      seen.append(some, static_cast<std::size_t>(n));
    }
    return seen;
  }
  void close_reader() {
    if (out_[0] >= 0)
      ::close(out_[0]);
    out_[0] = -1;
  }
  /// The exit code after this signal.
  int end(int number) {
    ::kill(pid_, number);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  int out_[2] = {-1, -1};
  pid_t pid_ = -1;
};

inline std::string address_in(const std::string& greeting) {
  auto at = greeting.find("http://");
  BOOST_REQUIRE_MESSAGE(at != greeting.npos, greeting);
  at += 7;
  return greeting.substr(at, greeting.find_first_of("\n/", at) - at);
}

} // namespace troupe
