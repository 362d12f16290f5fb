#include "runtime/local/sandbox/inside/overlay.hpp"

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

bool configure_overlay(int fs, std::span<const char* const> lowers,
                       const char* upper, const char* work) noexcept {
  const auto set = [fs](const char* name, const char* value) {
    return ::fsconfig(fs, FSCONFIG_SET_STRING, name, value, 0) == 0;
  };
  // Before Linux 6.7 there is one only.
  if (lowers.size() == 1 && !set("lowerdir", lowers.front()))
    return false;
  if (lowers.size() > 1)
    for (const char* lower : lowers)
      if (!set("lowerdir+", lower))
        return false;
  // Without rights over the host its notes go to attributes of the user's.
  return set("upperdir", upper) && set("workdir", work)
    && ::fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) == 0
    && ::fsconfig(fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
}

} // namespace

int new_overlay(std::span<const char* const> lowers, const char* upper,
                const char* work) noexcept {
  const int fs = ::fsopen("overlay", FSOPEN_CLOEXEC);
  if (fs < 0)
    return -1;
  int mount = -1;
  if (configure_overlay(fs, lowers, upper, work))
    mount
      = ::fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  const int error = errno;
  ::close(fs);
  errno = error;
  return mount;
}

} // namespace troupe::isolation
