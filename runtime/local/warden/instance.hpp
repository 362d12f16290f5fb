#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::warden {

// What one engine keeps on disk while it lives: `state_dir/local-<name>/` with
// a locked file, the list of its cgroup directories and the runner programs.
// The lock tells the living from the dead.

/// "" as the settings have it: the usual place for this user.
std::string default_state_dir();

/// Engine's side: makes the directory of an instance and holds its lock.
class instance {
public:
  static result<instance> claim(const std::string& state_dir);

  const std::string& name() const { return name_; }
  const std::string& directory() const { return directory_; }

private:
  std::string name_;
  std::string directory_;
  unique_fd lock_;
};

/// Warden's side: writes down a cgroup directory before it is made.
bool record_cgroups(const std::string& directory,
                    const std::vector<std::string>& paths);

/// Removes everything that the record names; true when nothing is left.
bool sweep_cgroups(const std::string& directory);

/// Removes every instance below `state_dir` whose engine is gone.
void sweep_dead_instances(const std::string& state_dir);

/// Removes an instance's directory, its cgroups included.
void remove_instance(const std::string& directory);

/// A block of host uids that nobody else takes while it is held.
struct uid_block {
  unique_fd lock;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// As root: from the configured range or, when this user namespace does not
/// have it, from the end of what it has. Empty when there is none to be had.
uid_block claim_uids(const std::string& state_dir, std::uint32_t first,
                     std::uint32_t count);

} // namespace troupe::warden
