#pragma once

#include "tests/support/providers/fake_provider.hpp"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace troupe::test {

/// A program that runs on while a stand-in answers questions about it.
class background_program {
public:
  struct view {
    std::string out;
    std::string err;
    std::optional<int> code;
  };

  explicit background_program(program_run what)
      : thread_{[this, what = std::move(what)]() mutable {
          what.sink = [this](bool is_err, std::string_view bytes) {
            std::lock_guard guard{mutex_};
            (is_err ? now_.err : now_.out) += bytes;
            changed_.notify_all();
          };
          what.begun = [this](int pid) {
            std::lock_guard guard{mutex_};
            pid_ = pid;
            if (unwanted_)
              ::kill(-pid, SIGKILL);
          };
          auto code = run_program(what);
          std::lock_guard guard{mutex_};
          pid_ = 0;
          now_.code = code;
          changed_.notify_all();
        }} {}
  ~background_program() {
    kill();
    thread_.join();
  }

  view look() const {
    std::lock_guard guard{mutex_};
    return now_;
  }
  /// Once it printed more than that, or has ended.
  view wait_for_more(std::size_t out, std::size_t err) const {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] {
      return now_.code || now_.out.size() > out || now_.err.size() > err;
    });
    return now_;
  }
  void kill() {
    std::lock_guard guard{mutex_};
    unwanted_ = true;
    if (pid_ > 0)
      ::kill(-pid_, SIGKILL);
  }

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  view now_;
  int pid_ = 0;
  bool unwanted_ = false;
  std::thread thread_;
};

} // namespace troupe::test
