#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

struct filter_options {
  network_calls network = network_calls::deny;
  /// AF_UNIX sockets reach nobody else: an own network namespace, or Landlock
  /// scopes abstract names.
  bool unix_sockets = true;
  /// Leaves the slot what it takes to make worlds (plan.hpp);
  /// `build_run_filter` goes on top of it in each.
  bool makes_namespaces = false;
  /// No file that can be seen is anybody else's: watching them tells nothing.
  bool own_files = false;
};

/// An allow-list with an architecture check first. A foreign architecture and
/// x32 kill the process; known-privileged calls are EPERM, everything unknown
/// is ENOSYS.
std::vector<sock_filter> build_filter(const filter_options& options);

/// Takes away again what `makes_namespaces` left: both together give the
/// verdicts of the ordinary filter.
std::vector<sock_filter> build_run_filter();

/// Installs it on every thread. With `notify` the listener's descriptor goes
/// to `listener` (close-on-exec).
outcome install_filter(const std::vector<sock_filter>& filter, bool notify,
                       int* listener) noexcept;

} // namespace troupe::isolation
