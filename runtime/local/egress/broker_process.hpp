#pragma once

#include "runtime/local/egress/broker.hpp"

#include <sys/types.h>

namespace troupe::network {

struct broker_process {
  pid_t pid = -1;
  unique_fd pidfd;
};

/// Forks a broker. It keeps nothing of this process but what it is given, dies
/// with it, and never returns. Empty with errno set on failure.
broker_process fork_broker(broker_descriptors with);

} // namespace troupe::network
