#include "runtime/local/isolation/root_tree.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

namespace troupe::isolation {

namespace {

/// A directory of the system: shown, or the link that it is repeated.
void add_system_directory(tree_plan& tree, const char* path) {
  char target[PATH_MAX];
  auto size = ::readlink(path, target, sizeof target);
  if (size > 0)
    tree.links.push_back({path, std::string(target, std::size_t(size))});
  else if (::access(path, F_OK) == 0)
    tree.shown.push_back({path, path, false, true, false, -1});
}

/// A file or directory of /etc that programs need and that tells nothing.
void add_if_there(tree_plan& tree, const char* path) {
  struct stat about {};
  if (::lstat(path, &about) != 0)
    return;
  if (S_ISLNK(about.st_mode))
    add_system_directory(tree, path);
  else
    tree.shown.push_back({path, path, false, true, false, -1});
}

} // namespace

tree_plan standard_tree() {
  tree_plan tree;
  for (const char* path :
       {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"})
    add_system_directory(tree, path);
  for (const char* path :
       {"/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls/certs",
        "/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted",
        "/etc/localtime", "/etc/mime.types"})
    add_if_there(tree, path);
  tree.files = {
    {"/etc/passwd",
     "tool:x:1000:1000:tool:/tmp:/bin/sh\n"
     "nobody:x:65534:65534:nobody:/:/bin/false\n"},
    {"/etc/group", "tool:x:1000:\nnogroup:x:65534:\n"},
    {"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"},
    {"/etc/hostname", "sandbox\n"},
    {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
    // The network broker answers there, when the run has a network.
    {"/etc/resolv.conf", "nameserver 127.0.0.53\noptions timeout:5\n"},
  };
  return tree;
}

std::vector<rlimit_plan> standard_rlimits(const process_limits& limits) {
  constexpr std::uint64_t mebibyte = 1u << 20;
  std::vector<rlimit_plan> list{
    {RLIMIT_CORE, 0},
    {RLIMIT_FSIZE, limits.file_bytes},
    {RLIMIT_STACK, 8 * mebibyte},
    {RLIMIT_MEMLOCK, 8 * mebibyte},
    {RLIMIT_MSGQUEUE, 0},
    {RLIMIT_RTPRIO, 0},
    {RLIMIT_NICE, 0},
    {RLIMIT_SIGPENDING, 1024},
  };
  if (limits.open_files != 0)
    list.push_back({RLIMIT_NOFILE, limits.open_files});
  if (limits.cpu_seconds != 0)
    list.push_back({RLIMIT_CPU, limits.cpu_seconds});
  if (limits.memory_bytes != 0)
    list.push_back({RLIMIT_DATA, limits.memory_bytes});
  if (limits.processes != 0)
    list.push_back({RLIMIT_NPROC, limits.processes});
  return list;
}

} // namespace troupe::isolation
