#pragma once

#include <linux/filter.h>

#include <vector>

/// The part of a run's seccomp filter that belongs to the network broker.
namespace troupe::network {

/// Instructions that give these calls to the broker and every other call to
/// what follows; to be put behind the checks of the architecture:
///
///   socket     AF_INET and AF_INET6
///   sendto     with an address; without one it is send()
///   connect, bind, listen, sendmsg, sendmmsg   always: BPF sees no memory
///   setsockopt SO_LINGER                       likewise
///
/// accept needs no rule: no internet socket ever listens.
std::vector<sock_filter> notify_rules();

/// The rules as a whole filter that permits everything else: for tests.
std::vector<sock_filter> notify_filter();

} // namespace troupe::network
