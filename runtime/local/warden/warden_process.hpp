#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/local/warden/protocol.hpp"
#include "runtime/local/warden/warden.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The engine's end of one warden: starts it by executing this very binary
/// again, sends and receives its packets, buries it. Used on one strand.
class warden_process : public std::enable_shared_from_this<warden_process> {
public:
  struct events {
    /// Descriptors come with `leased` and `started`.
    std::function<void(warden::message, std::vector<unique_fd>)> message;
    std::function<void()> died; // once; by then it is reaped
  };

  static result<std::shared_ptr<warden_process>>
  start(boost::asio::any_io_executor strand, warden::warden_settings settings,
        events listener);

  ~warden_process();

  /// Queues a packet; the descriptors are closed once it is sent.
  void send(const warden::message& m, std::vector<unique_fd> descriptors = {});

  /// Kills it; `died` follows. Its runs die with it.
  void kill();

  /// It is dead, and `died` has not been told yet: nothing reaches it.
  bool has_hung_up();

  int pid() const { return pid_; }

private:
  warden_process(boost::asio::any_io_executor strand, unique_fd socket, int pid,
                 events listener);

  void listen();
  void receive();
  void flush();
  void bury();

  struct outgoing {
    std::string bytes;
    std::vector<unique_fd> descriptors;
  };

  boost::asio::posix::stream_descriptor socket_;
  int pid_ = -1;
  events events_;
  std::deque<outgoing> unsent_; // bounded by the runs that may be in flight
  bool waiting_to_send_ = false;
};

} // namespace troupe
