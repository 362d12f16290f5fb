#pragma once

#include "runtime/local/network/address_codec.hpp"
#include "runtime/local/network/allowance.hpp"
#include "runtime/local/network/judge.hpp"
#include "runtime/local/network/resolver.hpp"
#include "runtime/local/network/tool_call.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <linux/filter.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace troupe::network {

/// Carries out the calls of one run, one function per call. Used on one
/// executor only; a call that must wait becomes an operation in flight.
class call_handler : public std::enable_shared_from_this<call_handler> {
public:
  static result<std::shared_ptr<call_handler>>
  open(boost::asio::any_io_executor executor, broker_options options);

  void serve(network_policy policy);
  void handle(tool_call call);
  broker::report decided() const; // from any thread
  void close();

private:
  /// The tool's descriptor, with what the kernel says it is.
  struct tool_socket {
    unique_fd fd;
    int family = 0, type = 0, protocol = 0;
    bool is_internet() const { return family == AF_INET || family == AF_INET6; }
    bool is_stream() const { return type == SOCK_STREAM; }
    bool blocks() const; // O_NONBLOCK is off
  };
  /// One message to send, copied out of the tool.
  struct message {
    std::string bytes;
    std::optional<endpoint> to;
    bool has_address = false;
  };
  struct sending;

  call_handler(boost::asio::any_io_executor executor, broker_options options)
      : executor_{std::move(executor)}, options_{std::move(options)} {}

  void make_socket(tool_call& call);
  void connect(tool_call call);
  void bind(tool_call& call);
  void listen(tool_call& call);
  void send_to(tool_call call);
  void send_message(tool_call call);
  void send_messages(tool_call call);

  /// An internet socket, or a local one whose call nobody but us may carry out.
  std::optional<tool_socket> take(tool_call& call);
  bool read_address(tool_call& call, std::uint64_t at, std::uint64_t size,
                    sockaddr_storage& out);

  void connect_allowed(tool_call call, tool_socket s,
                       const sockaddr_storage& to, socklen_t size);
  void connect_resolver(tool_call call, tool_socket s);
  bool is_lookup(const tool_socket& s, const endpoint& to) const;
  void admit(const tool_socket& s);

  /// errno, or 0: where the message may go is settled.
  int settle_target(const tool_socket& s, message& m);
  int read_message(tool_call& call, const tool_socket& s, std::uint64_t header,
                   message& m);
  void start_sending(tool_call call, tool_socket s, std::vector<message> all,
                     int flags, std::uint64_t lengths_at);
  void go_on_sending(std::shared_ptr<sending> op);
  void finish_sending(sending& op, int error);
  /// Calls `ready` when the descriptor can be written to.
  void when_writable(unique_fd fd, tool_call& call,
                     std::function<void(unique_fd)> ready);

  boost::asio::any_io_executor executor_;
  broker_options options_;
  mutable std::mutex mutex_; // for who reads `judge_` from another thread
  std::shared_ptr<judge> judge_;
  std::shared_ptr<resolver> resolver_;
  allowance sockets_{options_.sockets_at_once, options_.sockets_per_second};
  bool guarded_ = false;
  std::vector<sock_filter> stream_guard_, datagram_guard_;
  using waiting = boost::asio::posix::stream_descriptor;
  std::set<std::shared_ptr<waiting>> pending_;
};

} // namespace troupe::network
