#pragma once

#include "runtime/error.hpp"
#include "runtime/local/network/options.hpp"
#include "runtime/local/unique_fd.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/run.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::network {

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
  /// Costs next to nothing until the first call comes: most tools make none.
  static result<std::shared_ptr<broker>>
  open(boost::asio::any_io_executor executor, unique_fd listener,
       network_policy policy, broker_options options = {});

  broker(const broker&) = delete;
  broker& operator=(const broker&) = delete;
  virtual ~broker() = default;

  /// The next run of a slot: nothing remembered, perhaps another policy. Free
  /// when the last one never asked for anything.
  virtual void reset(network_policy policy) = 0;

  struct report {
    std::vector<network_event> events; // the first of each kind
    std::size_t dropped = 0;           // beyond `broker_options::events`
    /// The first thing that the run's policy refused. What no policy allows,
    /// such as listening, is not meant.
    std::optional<network_event> denied;
  };
  /// What was decided since `open` or `reset`.
  virtual report decided() const = 0;

  /// Answers nothing more: calls that wait get ENOSYS from the kernel when the
  /// listener closes. Also happens when the last process of the tool is gone.
  virtual void close() = 0;

protected:
  broker() = default;
};

} // namespace troupe::network
