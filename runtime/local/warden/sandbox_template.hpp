#pragma once

#include "runtime/local/isolation/plan.hpp"

#include <string>

namespace troupe::warden {

/// The root layer of sandboxes on this machine: places for the system's
/// directories or links to them, and copies of the few files that programs need
/// of /etc. Made once in `directory`, which only this user can write to. False
/// with errno set.
bool write_template(const std::string& directory,
                    const isolation::tree_plan& standard);

/// Files are copied; each directory is a layer of its own.
bool lies_in_template(const isolation::mount_source& shown);

} // namespace troupe::warden
