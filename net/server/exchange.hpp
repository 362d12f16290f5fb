#pragma once

#include "net/http/request.hpp"
#include "net/http/response.hpp"
#include "net/server/router.hpp"
#include "runtime/engine/engine.hpp"

#include <boost/asio/ip/address.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

class connection;
class connection_taker;

/// One request and the way to answer it, exactly once, from any thread. One
/// that is let go unanswered answers 500 by itself.
class exchange : public std::enable_shared_from_this<exchange> {
public:
  exchange(std::shared_ptr<connection> home, std::uint64_t serial);
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  const request& in() const { return in_; }
  const caller& who() const { return who_; }
  std::string_view param(std::size_t i) const { return match_.params[i]; }
  const route_match& match() const { return match_; }
  bool has_scope(scope needed) const;
  /// Whether this caller, without a key, may see the engine's health.
  bool sees_details() const { return sees_details_; }

  // -- one answer ------------------------------------------------------------
  void answer(response r);
  void answer_json(std::string body, int status = 200);
  /// The error, in the style of the route; the status by problem.hpp.
  void fail(const error& why, std::string_view run_id = {});
  /// A refusal that is HTTP's own, such as 406 or 412.
  void refuse(int status, std::string_view code, std::string_view text);

  // -- or a stream -----------------------------------------------------------
  /// Sends the head now; `write` and `finish` follow. `heartbeat` is written
  /// whenever the stream is silent for too long; "" writes nothing.
  void open(response head, std::string_view heartbeat = {});
  /// False once the reader is gone or too slow: stop. What
  /// counts is how far the reader is behind, not how large the piece is.
  bool write(std::string_view piece);
  void finish();
  /// Whether the reader keeps up: the next `write` is taken, whatever its size.
  bool has_room();
  /// Calls back once, on the connection's thread, never from in here, when the
  /// reader has caught up. Never, once the reader is gone.
  void when_drained(std::function<void()> then);

  // -- or neither ------------------------------------------------------------
  /// Leaves HTTP: from here on the connection is what `by` makes of it. For
  /// routes that say so (route_rules::takes_over).
  void take_over(std::shared_ptr<connection_taker> by);
  /// The connection's own address and other end.
  const boost::asio::ip::address& peer() const;
  bool is_encrypted() const;

  /// Sees the answer before it goes; set before anybody can give one.
  void before_answer(std::function<void(const response&)> told) {
    before_answer_ = std::move(told);
  }
  bool answered() const { return answered_.load(); }
  /// Calls back on the connection's thread, unless the server stops before.
  void after(std::chrono::milliseconds time, std::function<void()> then);

  /// Called (once, on an io thread, or at once) when the client went away.
  void on_disconnect(std::function<void()> told);

  // -- for the budget of all streams -----------------------------------------
  /// Bytes that the reader of the stream has not taken yet.
  std::size_t behind() const noexcept { return behind_.load(); }
  /// Since when it has taken none of them.
  using clock = std::chrono::steady_clock;
  clock::time_point waits_since() const noexcept { return waits_since_.load(); }
  /// Ends the stream of a reader that is too slow.
  void give_up();

private:
  friend class connection;

  void notify_disconnect();
  bool keeps_up() const; // these four with mutex_ held
  bool caught_up() const;
  void hold(std::size_t bytes);
  void let_go(std::size_t bytes) noexcept;
  void written(std::size_t bytes); // by the connection
  void drop_tail();                // the connection will never write it
  void notify_drained();

  request in_;
  caller who_;
  route_match match_;
  error_writer style_ = nullptr;
  std::shared_ptr<connection> home_;
  std::uint64_t serial_ = 0;
  std::size_t reserved_ = 0; // of the budget for bodies
  bool sees_details_ = false;

  std::function<void(const response&)> before_answer_;
  std::atomic<bool> answered_{false};
  std::mutex mutex_; // guards what follows
  std::function<void()> told_;
  std::function<void()> drained_;
  std::string unsent_;            // of the stream, not yet with the connection
  std::size_t in_connection_ = 0; // with the connection, not yet written
  std::atomic<std::size_t> behind_{0}; // both, as the budget of all has it
  std::atomic<clock::time_point> waits_since_{};
  bool listed_ = false; // with that budget
  bool gone_ = false;
  bool scheduled_ = false;
  bool finished_ = false;
  bool overflowed_ = false;
};

} // namespace troupe::net
