#pragma once

#include "runtime/json/json.hpp"
#include "tests/app/ask.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace troupe {

/// `troupe serve` as a user starts it: the real binary, a process of its own.
/// Its log is `serve.log` in the folder.
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
      "--local.runtime-dir=" + (folder.path / "state").string(),
    };
    const auto drains = [](const std::string& word) {
      return word.starts_with("--engine.drain-timeout=");
    };
    if (std::none_of(more.begin(), more.end(), drains))
      words.emplace_back("--engine.drain-timeout=5s");
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out_[1], 1);
    auto log = (folder.path / "serve.log").string();
    ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
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
  /// Where it listens.
  std::string address();
  pid_t pid() const { return pid_; }
  /// Somebody else has waited for its end.
  void forget() { pid_ = -1; }

  void close_reader() {
    if (out_[0] >= 0)
      ::close(out_[0]);
    out_[0] = -1;
  }
  void tell(int number) { ::kill(pid_, number); }
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

inline std::string serving::address() {
  return address_in(greeting());
}

/// The status and the JSON body of an answer.
struct reply {
  int status = 0;
  json::value body;
};

inline reply talk(const std::string& address, const std::string& head,
                  const std::string& body = {}) {
  auto text = ask(address, head, body);
  reply r;
  auto at = text.find("\r\n\r\n");
  BOOST_REQUIRE_MESSAGE(text.size() > 12 && at != text.npos, text);
  r.status = std::stoi(text.substr(9, 3));
  auto parsed = json::parse(text.substr(at + 4));
  BOOST_REQUIRE_MESSAGE(parsed, text);
  r.body = std::move(*parsed);
  return r;
}

} // namespace troupe
