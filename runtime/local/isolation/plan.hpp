#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::isolation {

/// Who a run is inside. Outside it is one unused uid of the host.
inline constexpr std::uint32_t inside_uid = 1000;
inline constexpr std::uint32_t inside_gid = 1000;

/// A host file or directory that is shown inside.
struct mount_source {
  std::string host;
  std::string inside;
  bool writable = false;
  bool optional = false; // absent on the host: skip
  bool exactly = false;  // refused when a part of `host` is a link by now
  /// A detached mount that the warden made (id-mapped, say); -1: open `host`.
  int mount = -1;
};

/// A symbolic link or a small text file of the private tree.
struct tree_entry {
  std::string inside;
  std::string content; // the link's target, or the text
};

/// What a sandbox that lives is told of the machine, in place of what is so.
struct told_host {
  std::uint64_t memory_bytes = 0;
  std::uint32_t processors = 1;
};

/// What other sandboxes have written, as one file system of theirs.
struct tree_layer {
  int mount = -1;   // detached
  bool own = false; // made for this tree alone; else it is copied
};

/// The private tree: a read-only tmpfs with everything named here and not one
/// thing more.
struct tree_plan {
  std::vector<mount_source> shown;
  std::vector<tree_entry> links;
  std::vector<tree_entry> files;
  std::uint64_t scratch_bytes = 128ull << 20; // /tmp and /dev/shm together
  std::uint64_t scratch_inodes = 16'384;
  bool proc = true;
  told_host told; // stays in this process
  /// Of a sandbox: below what it writes, the top one first.
  std::vector<tree_layer> layers;
  /// There is nothing but a copy of what the one layer has written.
  bool copies = false;
};

/// One setrlimit, downwards only: a lower limit of the host stays.
struct rlimit_plan {
  int resource = 0;
  std::uint64_t value = 0;
};

/// What the filter does with the calls that the network broker decides.
enum class network_calls : std::uint8_t {
  deny,   // socket(AF_INET*) is EACCES
  notify, // SECCOMP_RET_USER_NOTIF, the listener goes to the broker
  own,    // TCP and UDP by the kernel, in a network with a loopback alone
  leave,  // as `own`, and what may lead out of it as `notify`
};

/// Which layers are put on. All of them, unless the host lacks one and the
/// run accepts that, or isolation is off.
struct layer_set {
  bool user = true; // NEWUSER and the map
  bool mounts = true;
  bool pids = true;
  bool network = true;
  bool ipc = true;
  bool uts = true;
  bool cgroup_view = true;
  bool capabilities = true; // bounding set, securebits, no_new_privs
  bool landlock = true;
  bool seccomp = true;
};

/// Everything that a contained child needs to know, made before the fork.
struct plan {
  layer_set layers;
  tree_plan tree;
  std::vector<rlimit_plan> rlimits;
  std::vector<sock_filter> filter; // of seccomp.hpp; empty: none
  bool notify = false;             // the filter has USER_NOTIF rules
  /// Of a sandbox: of commands that may leave its network. Empty: none may.
  std::vector<sock_filter> leaving_filter;
  std::string working_dir = "/tmp";
  /// Where this process's program lies, if the tree's is to take its place:
  /// for who does not execute another one. Stays in this process.
  std::string program;
  /// A slot whose runs each get a world of their own: pid, mount and uts
  /// namespaces with a scratch and a /proc of their own. `filter` leaves the
  /// calls that make it, `run_filter`, on top of it, takes them away again.
  bool namespaces_per_run = false;
  std::vector<sock_filter> run_filter;
};

} // namespace troupe::isolation
