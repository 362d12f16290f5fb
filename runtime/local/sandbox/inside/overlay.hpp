#pragma once

#include <span>

namespace troupe::isolation {

/// A detached overlay without set-user programs and devices: what lies in
/// `lowers`, the top one first, and over it what is written, which goes to
/// `upper`; `work` lies on the same file system as that. Every file in it has
/// an inode of the overlay's own. Paths may be relative to the current
/// directory. -1 with errno set.
int new_overlay(std::span<const char* const> lowers, const char* upper,
                const char* work) noexcept;

} // namespace troupe::isolation
