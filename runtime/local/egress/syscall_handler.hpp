#pragma once

#include "runtime/local/egress/dns_proxy.hpp"
#include "runtime/local/egress/egress_policy.hpp"
#include "runtime/local/egress/notified_syscall.hpp"
#include "runtime/local/egress/quota.hpp"
#include "runtime/local/egress/sockaddr_codec.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <linux/filter.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::network {

/// Carries out the calls of one run, one function per call. Used on one
/// executor only; a call that must wait becomes an operation in flight.
class syscall_handler : public std::enable_shared_from_this<syscall_handler> {
public:
  static result<std::shared_ptr<syscall_handler>>
  open(boost::asio::any_io_executor executor, broker_options options,
       quota& budget, judge::told told);

  /// The next run: nothing remembered, nothing waits.
  void serve(const network_policy& policy);
  /// Another policy for what goes on: what is open, and would be refused by
  /// now, is shut down.
  void change(const network_policy& policy);
  void handle(notified_syscall call);
  /// The run is over: what waits for it waits no longer.
  void end();
  void close();
  /// Calls whose callers have died wait no longer.
  void let_go_of_dead();

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
    bool stays_inside = false; // to the tool's own network, not judged
  };
  struct sending;
  struct waiting;

  syscall_handler(boost::asio::any_io_executor executor, broker_options options,
                  quota& budget, judge::told told)
      : executor_{executor}, options_{std::move(options)}, quota_{budget},
        told_{std::move(told)}, sweep_{std::move(executor)} {}

  void guard(const network_policy& policy);
  void make_socket(notified_syscall& call);
  /// One of the host's, counted and guarded; empty with errno set.
  unique_fd host_socket(int family, int type, int protocol);
  void connect(notified_syscall call);
  void bind(notified_syscall& call);
  void listen(notified_syscall& call);
  void send_to(notified_syscall call);
  void send_message(notified_syscall call);
  void send_messages(notified_syscall call);
  void set_option(notified_syscall& call);

  /// An internet socket, or a local one whose call nobody but us may carry out.
  std::optional<tool_socket> take(notified_syscall& call);

  // -- a network of the tool's own (outward_sockets.cpp) ---------------------
  bool is_inside(const tool_socket& s);
  bool leads_inside(const ip_address& a) const;
  int turn_outwards(const notified_syscall& call, tool_socket& s);
  void remember_network(const notified_syscall& call);
  void shut_forbidden();

  bool read_address(const notified_syscall& call, std::uint64_t at,
                    std::uint64_t size, sockaddr_storage& out);

  void connect_allowed(notified_syscall call, tool_socket s,
                       const sockaddr_storage& to, socklen_t size);
  void connect_resolver(notified_syscall call, tool_socket s);
  bool is_lookup(const tool_socket& s, const endpoint& to) const;
  void admit(const tool_socket& s);

  /// errno, or 0: where the message may go is settled.
  int settle_target(const notified_syscall& call, tool_socket& s, message& m);
  /// Takes from `parts` how many pieces it had.
  int read_message(const notified_syscall& call, tool_socket& s,
                   const msghdr& header, std::size_t& parts, message& m);
  void start_sending(notified_syscall call, tool_socket s,
                     std::vector<message> all, int flags,
                     std::uint64_t lengths_at);
  void go_on_sending(std::shared_ptr<sending> op);
  void finish_sending(sending& op, int error);
  /// Calls `ready` when the descriptor can be written to. `bytes`: of what
  /// waits.
  void when_writable(unique_fd fd, std::shared_ptr<notified_syscall> call,
                     std::size_t bytes, std::function<void(unique_fd)> ready);
  void sweep_soon();
  void sweep();

  boost::asio::any_io_executor executor_;
  broker_options options_;
  quota& quota_;
  judge::told told_;
  std::shared_ptr<judge> judge_;
  std::shared_ptr<resolver> resolver_;
  bool guarded_ = false;
  std::vector<sock_filter> stream_guard_, datagram_guard_;
  std::map<std::uint64_t, std::shared_ptr<waiting>> waiting_;
  std::uint64_t next_waiting_ = 0;
  boost::asio::steady_timer sweep_;
  bool sweeps_ = false;
  std::uint64_t host_network_ = 0; // its cookie; 0: not asked for yet
  std::string tool_network_;       // as /proc/PID/ns/net has it
};

} // namespace troupe::network
