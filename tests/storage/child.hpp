#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace troupe::tests {

/// Runs one disabled test case of this executable in a process of its own:
/// a process that is to die must not share RocksDB's threads with the one that
/// looks on. What the case shall do stands in its environment.
class child {
public:
  child(const std::string& test_case,
        const std::map<std::string, std::string>& environment) {
    BOOST_REQUIRE(::pipe(out_) == 0);
    pid_ = ::fork();
    BOOST_REQUIRE(pid_ >= 0);
    if (pid_ != 0) {
      ::close(out_[1]);
      return;
    }
    ::close(out_[0]);
    for (const auto& [name, value] : environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("TROUPE_CHILD_OUT", std::to_string(out_[1]).c_str(), 1);
    auto which = "--run_test=" + test_case;
    ::execl("/proc/self/exe", "test", which.c_str(), "--log_level=nothing",
            "--report_level=no", "--catch_system_errors=no", nullptr);
    ::_exit(127);
  }
  ~child() {
    kill();
    ::close(out_[0]);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }

  /// The next line that the child said, "" when it has ended.
  std::string line() {
    std::string text;
    for (char c = 0; ::read(out_[0], &c, 1) == 1;) {
      if (c == '\n')
        return text;
      text += c;
    }
    return {};
  }

  void kill() {
    if (pid_ > 0)
      ::kill(pid_, SIGKILL);
    wait();
  }

  /// Its exit code, or minus the signal.
  int wait() {
    if (pid_ <= 0)
      return 0;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  int out_[2]{-1, -1};
  pid_t pid_ = -1;
};

// -- inside of the child -----------------------------------------------------

inline std::string told(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

inline void say(std::string line) {
  line += '\n';
  auto fd = std::atoi(told("TROUPE_CHILD_OUT").c_str());
  if (::write(fd, line.data(), line.size()) < 0)
    ::_exit(1);
}

} // namespace troupe::tests
