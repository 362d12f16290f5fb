#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

#include <sched.h>
#include <sys/types.h>

namespace troupe::isolation {

/// The CLONE_NEW* flags of a layer set. The cgroup namespace is not among
/// them: it is entered with `own_cgroup_view`, from inside the run's group.
std::uint64_t clone_flags(const layer_set& layers) noexcept;

/// Those of a run's world in a slot (plan::namespaces_per_run). The others are
/// the slot's: a network with nothing in it, a user without rights, a group,
/// and System V objects, of which a slot that serves again has none. (The
/// kernel mounts a file system of message queues with every ipc namespace,
/// whether anybody may use one or not, and takes it away again: 4 % of a run.)
inline constexpr int run_namespace_flags
  = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS;

struct cloned {
  pid_t pid = -1; // 0 in the child, -1 with errno set on failure
  int pidfd = -1;
};

/// clone3 with the raw call: no at-fork handler runs. `cgroup` is a v2 group's
/// descriptor to be born in, or -1. The exit signal is SIGCHLD.
cloned clone_into(std::uint64_t flags, int cgroup) noexcept;

/// Parent's part: maps `inside_uid` and `inside_gid` to one uid and one gid of
/// the host. Without privilege the ids must be the caller's own, and setgroups
/// is denied inside.
outcome write_identity_map(pid_t child, uid_t host_uid, gid_t host_gid,
                           bool privileged) noexcept;

/// SIGKILL when the parent thread dies. Repeat after every identity change.
outcome die_with_parent() noexcept;

/// /proc/self/cgroup shows nothing above the run's own group.
outcome own_cgroup_view() noexcept;

/// A host name that says nothing.
outcome name_host() noexcept;

/// Brings up the one device of a network namespace of one's own.
outcome raise_loopback() noexcept;

} // namespace troupe::isolation
