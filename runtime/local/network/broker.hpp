#pragma once

#include "runtime/error.hpp"
#include "runtime/local/unique_fd.hpp"
#include "runtime/model/address.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/run.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace troupe::network {

struct broker_options {
  /// Where names are looked up. Empty: what /etc/resolv.conf of the host says.
  /// They may be private addresses: the tool never talks to them itself.
  std::vector<ip_address> nameservers;
  std::uint16_t nameserver_port = 53;

  /// How long one lookup may take, over all nameservers.
  std::chrono::milliseconds lookup_timeout{5'000};

  std::size_t events = 256;  // of one run; the rest is only counted
  std::size_t names = 1'024; // remembered for one run
  std::size_t lookups = 64;  // waiting for an answer, of one run
  std::size_t pending = 256; // blocking calls in flight, of one run

  /// Gives every socket a filter inside the kernel that lets nothing in from
  /// a closed address and no connection from outside, whatever the tool finds
  /// to get around the broker. Where the host does not let us, the broker is
  /// stricter with the tool's local sockets instead; see `guarded`.
  bool guard_sockets = true;

  /// Why an address is closed, "" when it is not. Tests put theirs here.
  std::function<std::string_view(const ip_address&)> closed
    = [](const ip_address& a) { return special_purpose(a); };
};

/// Decides every internet call of one run, or of one slot for one run after
/// another, by seccomp user notification.
///
/// The filter of the tool (`notify_calls.hpp`) hands socket, connect, bind,
/// listen, sendto, sendmsg and sendmmsg to this object. It creates sockets in
/// its own network namespace and gives them to the tool, copies an address out
/// of the tool's memory once, judges the copy, and connects the tool's socket
/// to the copy itself. Nothing here waits for the tool or the network: a
/// blocking connect is an operation in flight like any other.
///
/// Needs the right to look into the tool's process: its real uid outside, or
/// root. Lives on one executor; give it a strand or a single thread. Its calls
/// may come from any thread.
class broker {
public:
  /// `listener` is what seccomp(2) gave for the tool's filter. Takes it over.
  static result<std::shared_ptr<broker>>
  open(boost::asio::any_io_executor executor, unique_fd listener,
       network_policy policy, broker_options options = {});

  broker(const broker&) = delete;
  broker& operator=(const broker&) = delete;
  virtual ~broker() = default;

  /// The next run of a slot: another policy, nothing remembered.
  virtual void reset(network_policy policy) = 0;

  struct report {
    std::vector<network_event> events; // the first of each kind
    std::size_t dropped = 0;           // beyond `broker_options::events`
  };
  /// What was decided since `open` or `reset`.
  virtual report decided() const = 0;

  /// The sockets' own filters are on. Without them a tool with threads can
  /// use no local sockets, only pairs.
  virtual bool guarded() const = 0;

  /// Answers nothing more: calls that wait get ENOSYS from the kernel when the
  /// listener closes. Also happens when the last process of the tool is gone.
  virtual void close() = 0;

protected:
  broker() = default;
};

} // namespace troupe::network
