#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Becomes `inside_uid`/`inside_gid` with an empty list of groups but keeps
/// its capabilities in the user namespace: for building the tree.
outcome become_mapped() noexcept;

/// Drops the whole bounding set; locks securebits.
outcome drop_bounding_set() noexcept;
outcome lock_securebits() noexcept;
outcome no_new_privileges() noexcept;
/// setresuid and setresgid to the inside identity, verified by reading back.
outcome settle_identity() noexcept;
/// Every capability set empty, verified.
outcome drop_capabilities() noexcept;
outcome become_undumpable() noexcept;

} // namespace troupe::isolation
