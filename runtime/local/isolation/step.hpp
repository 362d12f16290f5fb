#pragma once

#include <cstdint>
#include <string_view>

/// Isolation in named steps. This folder is linked into the warden and into
/// the interpreters' zygotes alike: the standard library and the kernel,
/// nothing else. A step runs in a freshly forked, single-threaded child; it
/// reads its plan and neither allocates on the heap nor logs.
namespace troupe::isolation {

/// Every step that may say no. The order is the order of execution.
enum class step : std::uint8_t {
  none,
  order,        // the parent's go-ahead never came, or the plan is unreadable
  cgroup,       // joining the groups that bound the run
  namespaces,   // clone3, unshare, hostname
  death_signal, // dying with the parent
  open_sources, // opening what is shown inside, still as the old user
  identity_map, // becoming the mapped user, capabilities kept
  tree,         // the root tmpfs, its files and links
  bind,         // showing the opened sources inside, read-only
  devices,      // null zero full random urandom
  scratch,      // the private, bounded /tmp and /dev/shm
  proc,         // /proc of this pid namespace only
  pivot,        // the old tree is gone
  session,      // setsid
  rlimits,
  bounding_set, // no capability can come back
  securebits,
  no_new_privs,
  identity, // setresuid and friends, verified
  capabilities,
  undumpable,
  landlock,
  seccomp,
  listener,    // the filter's questions reach the network broker
  descriptors, // only what was handed in
  spawn,       // the fork of the tool
  exec,
};

std::string_view to_string(step s) noexcept;

/// Success, or which step said no and with which errno. Trivial, so that it
/// crosses a pipe as bytes.
struct [[nodiscard]] outcome {
  step at = step::none;
  std::int32_t error = 0;

  constexpr bool ok() const noexcept { return at == step::none; }
};

/// `at` failed with the current errno.
outcome failed(step at) noexcept;

} // namespace troupe::isolation
