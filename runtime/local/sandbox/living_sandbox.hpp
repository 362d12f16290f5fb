#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"
#include "runtime/local/sandbox/living_process.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The engine's end of one sandbox: what it says to the keeper, and what it
/// hears of its processes. On one executor.
class living_sandbox : public std::enable_shared_from_this<living_sandbox> {
public:
  living_sandbox(boost::asio::any_io_executor executor, unique_fd control);

  struct handler {
    std::function<void()> ready; // once, when the keeper says so
    /// A process was killed and is there all the same: nothing inside can be
    /// relied on any more.
    std::function<void()> stuck;
    /// Of the filter of each command that may leave the network.
    std::function<void(unique_fd)> listener;
  };
  void listen(handler told);

  struct command {
    std::shared_ptr<living_process> process;
    living_process::far_ends ends;
    unique_fd launch;
    std::string cwd;
    std::optional<terminal_size> terminal{}; // in place of `ends`
    bool may_leave = false; // the network: see `handler::listener`
    /// With nothing once it is executed, or with why it never was.
    std::function<void(std::optional<error>)> begun;
  };
  /// `begun` is told, then the process's end; for one that was never executed
  /// only the first.
  result<void> begin(command what);

  struct hand_socket {
    std::uint64_t ticket = 0;
    unique_fd socket;
  };
  result<hand_socket> make_hand();
  void end_hand(std::uint64_t ticket);

  /// What the keeper said to a question, and the descriptor beside it.
  struct keeper_answer {
    inside::keeper_message said;
    unique_fd file;
  };
  using answered = std::function<void(result<keeper_answer>)>;
  /// A question of the keeper's protocol that has an answer; its ticket is
  /// filled in. `then` is called once, unless the question is refused here.
  result<void> ask(inside::keeper_message question, answered then);
  /// When the last process of its caller was begun.
  std::chrono::steady_clock::time_point last_begun() const {
    return last_begun_;
  }

  /// Nothing is left of it: everything that went on in it ends with `why`. Its
  /// keeper's end comes before that, and then nothing more can be begun.
  void end(error why);
  bool is_over() const { return over_.has_value(); }
  /// A process that was begun here has not ended.
  bool is_busy() const { return !processes_.empty(); }

private:
  struct running {
    std::shared_ptr<living_process> process;
    std::function<void(std::optional<error>)> begun;
    bool killed = false;
  };

  void hear_later();
  void hear();
  void obey(const inside::keeper_message& m, unique_fd given);
  void answer(keeper_answer a);
  void finish(const inside::keeper_message& m);
  void say(const inside::keeper_message& m, std::vector<unique_fd> files = {});
  void flush();
  void hang_up();
  result<void> send_signal(std::uint64_t ticket, std::int32_t number);
  void watch_killed(std::uint64_t ticket);

  boost::asio::posix::stream_descriptor control_;
  handler told_;
  std::map<std::uint64_t, running> processes_;
  std::map<std::uint64_t, answered> asked_; // bounded: see `ask`
  std::chrono::steady_clock::time_point last_begun_{};
  struct outgoing {
    std::string bytes;
    std::vector<unique_fd> files;
  };
  std::deque<outgoing> unsent_; // bounded: see `begin`
  bool waits_to_send_ = false;
  std::uint64_t next_ticket_ = 1;
  std::optional<error> over_;
};

} // namespace troupe
