#pragma once

#include "runtime/local/isolation/seccomp_builder.hpp"

namespace troupe::isolation {

/// The options that a run may set on a socket, and every other refused with
/// EPERM: the kernel gets new ones with most releases, and a socket of the
/// network broker is of the host's network. `linger` is the verdict for
/// SO_LINGER, whose value no filter can see.
seccomp_builder::program set_option_rules(std::uint32_t linger);

/// What a run may not ask a socket: the other end of its channel is the
/// engine's, and so is who that is.
seccomp_builder::program get_option_rules();

} // namespace troupe::isolation
