#include "runtime/local/isolation/idmapped_mount.hpp"

#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/local/isolation/mount_calls.hpp"
#include "runtime/local/isolation/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace troupe::isolation {

namespace {

bool shift(int mount, int map) noexcept {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(map);
  return ::mount_setattr(mount, "", AT_EMPTY_PATH, &attributes,
                         sizeof attributes)
    == 0;
}

} // namespace

/// A user namespace is made with a process in it; its descriptor outlives it.
unique_fd make_id_map(uid_t from_uid, gid_t from_gid, uid_t uid,
                      gid_t gid) noexcept {
  auto child = clone_into(CLONE_NEWUSER, -1);
  if (child.pid < 0)
    return {};
  if (child.pid == 0) {
    ::pause();
    ::_exit(0);
  }
  unique_fd pidfd{child.pidfd};
  auto proc = "/proc/" + std::to_string(child.pid);
  auto line = [](unsigned from, unsigned to) {
    return std::to_string(from) + " " + std::to_string(to) + " 1\n";
  };
  unique_fd space;
  if (write_text(proc + "/uid_map", line(from_uid, uid))
      && write_text(proc + "/gid_map", line(from_gid, gid)))
    space.reset(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  int error = errno;
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  ::waitpid(child.pid, nullptr, __WALL);
  errno = error;
  return space;
}

unique_fd mapped_mount(const char* directory, uid_t uid, gid_t gid) noexcept {
  struct stat owner {};
  unique_fd mount{copy_mount(directory, false, true)};
  if (!mount || ::fstat(mount.get(), &owner) != 0)
    return {};
  auto space = make_id_map(owner.st_uid, owner.st_gid, uid, gid);
  if (!space || !shift(mount.get(), space.get()))
    return {};
  return mount;
}

unique_fd mapped_copy(int mount, int map) noexcept {
  unique_fd copy{copy_mount_at(mount, ".")};
  if (!copy || !shift(copy.get(), map))
    return {};
  return copy;
}

} // namespace troupe::isolation
