#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

struct filter_options {
  network_calls network = network_calls::deny;
  /// AF_UNIX sockets reach nobody else: an own network namespace, or Landlock
  /// scopes abstract names.
  bool unix_sockets = true;
  /// Leaves who shows the pass (pass.hpp) what it takes to make worlds
  /// (plan.hpp); `issue_pass` makes a filter of it.
  bool makes_worlds = false;
};

/// An allow-list with an architecture check first. A foreign architecture and
/// x32 kill the process; known-privileged calls are EPERM, everything unknown
/// is ENOSYS.
std::vector<sock_filter> build_filter(const filter_options& options);

/// Installs it on every thread. With `notify` the listener's descriptor goes
/// to `listener` (close-on-exec).
outcome install_filter(const std::vector<sock_filter>& filter, bool notify,
                       int* listener) noexcept;

} // namespace troupe::isolation
