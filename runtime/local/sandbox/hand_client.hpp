#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/call_wait.hpp"
#include "runtime/local/sandbox/inside/hand_protocol.hpp"
#include "runtime/local/sandbox/living_sandbox.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <vector>

namespace troupe {

/// What a hand answered: all entries, and the file of an `open`.
struct hand_answer {
  inside::hand_message done;
  std::vector<inside::hand_entry> entries;
  std::vector<inside::hand_match> matches;
  unique_fd file;
};

/// The engine's end of one hand. One question at a time.
class hand_client {
public:
  hand_client(boost::asio::any_io_executor executor,
              std::shared_ptr<living_sandbox> sandbox,
              living_sandbox::hand_socket socket);
  /// It ends, whatever it does.
  ~hand_client();

  /// What came instead of a whole answer is an error; then it is of no more
  /// use.
  boost::asio::awaitable<result<hand_answer>>
  ask(inside::hand_message question, unique_fd content, call_scope scope);

  /// Of a `watch` that was answered: what happens. It is of no other use after
  /// that.
  boost::asio::awaitable<result<std::vector<inside::hand_event>>> next_events();
  /// Ends `next_events`, and the hand.
  void stop();
  bool is_stopped() const { return stopped_; }

  bool is_usable();
  /// It never heard the last question: another hand may be asked.
  bool was_gone() const { return was_gone_; }

private:
  struct heard_message {
    inside::hand_message said;
    unique_fd file;
  };
  boost::asio::awaitable<result<void>> wait_for_answer(call_scope scope);
  boost::asio::awaitable<result<heard_message>> hear(call_scope scope);

  std::shared_ptr<living_sandbox> sandbox_;
  std::uint64_t ticket_;
  // Its own timer may look for it when we are gone.
  std::shared_ptr<boost::asio::posix::stream_descriptor> socket_;
  bool broken_ = false;
  bool was_gone_ = false;
  bool has_ended_ = false;
  bool stopped_ = false;
};

} // namespace troupe
