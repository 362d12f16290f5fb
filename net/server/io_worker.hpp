#pragma once

#include "net/server/connection.hpp"
#include "net/server/metrics.hpp"
#include "net/server/server_state.hpp"
#include "runtime/async/task_queue.hpp"
#include "runtime/async/watchdog.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace troupe::net {

using io_executor = boost::asio::io_context::executor_type;
using tcp_socket
  = boost::asio::basic_stream_socket<boost::asio::ip::tcp, io_executor>;
using tcp_acceptor
  = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, io_executor>;

/// One event loop of the HTTP server: a thread with an io_context, its
/// acceptors and its connections, or the same on an event loop that another
/// thread runs. The server starts one per io thread; a connection stays with
/// its worker. State is confined to the loop and has no locks: other threads
/// post tasks.
class io_worker : public std::enable_shared_from_this<io_worker> {
public:
  using clock = std::chrono::steady_clock;

  /// With `host`, a shared event loop: no thread is started, and `host` must
  /// outlive `stop`.
  explicit io_worker(std::shared_ptr<server_state> h,
                     boost::asio::io_context* host = nullptr);
  ~io_worker();

  /// Takes a listening socket over; before `start`.
  void listen_on(int descriptor, bool loopback);
  /// The same for a Unix socket: root and our own user are let in there.
  void listen_to_operators(int descriptor);
  void start();
  /// Closes what is idle; the rest closes with its answer.
  void drain();
  /// Ends every connection and the thread.
  void stop();

  // -- for connections -------------------------------------------------------
  server_state& shared() { return *state_; }
  counters& counts() { return counts_; }
  const counters& counts() const { return counts_; }
  /// From threads that are not ours.
  task_queue& tasks() { return *tasks_; }
  bool on_own_thread() const;
  boost::asio::io_context::executor_type executor() {
    return context_.get_executor();
  }
  bool closed() const { return closed_.load(); }
  std::string_view date() const { return date_; }
  std::chrono::steady_clock::time_point now() const { return now_; }
  std::string make_request_id();
  /// On this worker's thread; forgotten when the worker stops.
  void call_after(std::chrono::milliseconds time, std::function<void()> then);
  void add_connection(connection& c) { connections_.push_back(c); }
  /// The connection on the reserved descriptor ended.
  void restore_spare_fd();

  /// For tests and the fuzzer, which bring connections without sockets: one
  /// turn of the loop on the calling thread.
  void adopt_this_thread();
  void poll();

private:
  struct listening_socket {
    tcp_acceptor acceptor;
    bool loopback = false;
    bool operators = false; // a Unix socket
  };

  void begin();
  void close_all();
  void when_left_alone(clock::time_point until, std::function<void()> then);
  void accept(listening_socket& d);
  void accepted(listening_socket& d, boost::system::error_code ec,
                tcp_socket socket);
  void out_of_descriptors(listening_socket& d);
  void on_connection(listening_socket& d, tcp_socket socket);
  bool evict_idle();
  void tick();
  void refresh_clock();
  void later(listening_socket& d);
  void turn_away(tcp_socket& socket, std::string_view reply);

  std::shared_ptr<server_state> state_;
  std::unique_ptr<boost::asio::io_context> own_; // null: we are guests
  boost::asio::io_context& context_;
  std::shared_ptr<task_queue> tasks_
    = std::make_shared<task_queue>(context_.get_executor());
  boost::asio::steady_timer ticker_{context_};
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>>
    calls_;
  std::vector<std::unique_ptr<listening_socket>> listening_;
  boost::intrusive::list<connection,
                         boost::intrusive::constant_time_size<false>>
    connections_;
  counters counts_;
  std::thread thread_;
  watchdog::watched watched_; // if the thread is ours
  bool started_ = false;
  std::atomic<bool> closed_{false};
  std::string date_;
  std::time_t date_second_ = 0;
  std::chrono::steady_clock::time_point now_{};
  std::string id_prefix_;
  std::uint64_t id_count_ = 0;
  int spare_fd_ = -1; // a descriptor to give up when there is none left
  bool reserved_descriptor_used_ = false;
};

} // namespace troupe::net
