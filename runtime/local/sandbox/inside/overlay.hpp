#pragma once

namespace troupe::isolation {

/// A detached overlay without set-user programs and devices: what lies in
/// `lower`, and over it what is written, which goes to `upper`; `work` lies on
/// the same file system as that. Every file in it has an inode of the overlay's
/// own. Paths may be relative to the current directory. -1 with errno set.
int new_overlay(const char* lower, const char* upper,
                const char* work) noexcept;

} // namespace troupe::isolation
