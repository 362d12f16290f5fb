#include "runtime/local/isolation/mount_calls.hpp"

#include "runtime/base/open_no_symlinks.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::isolation {

int copy_mount(const char* path, bool deep, bool exactly) noexcept {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  if (deep)
    flags |= AT_RECURSIVE;
  if (!exactly)
    return ::open_tree(AT_FDCWD, path, flags);
  int place = open_exactly(path);
  if (place < 0)
    return -1;
  int mount = ::open_tree(place, "", flags | AT_EMPTY_PATH);
  int error = errno;
  ::close(place);
  errno = error;
  return mount;
}

int copy_mount_at(int mount, const char* path) noexcept {
  return ::open_tree(mount, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

int new_mount(const char* type, std::uint64_t attributes,
              const std::array<mount_option, 4>& options) noexcept {
  int fs = ::fsopen(type, FSOPEN_CLOEXEC);
  if (fs < 0)
    return -1;
  int mount = -1;
  bool good = true;
  for (const auto& option : options)
    good = good
      && (option.name == nullptr
          || ::fsconfig(fs, FSCONFIG_SET_STRING, option.name, option.value, 0)
            == 0);
  if (good && ::fsconfig(fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0)
    mount = ::fsmount(fs, FSMOUNT_CLOEXEC, static_cast<unsigned>(attributes));
  int error = errno;
  ::close(fs);
  errno = error;
  return mount;
}

bool set_attributes(int mount, std::uint64_t set, bool deep) noexcept {
  mount_attr attributes{};
  attributes.attr_set = set;
  unsigned flags = AT_EMPTY_PATH;
  if (deep)
    flags |= AT_RECURSIVE;
  return ::mount_setattr(mount, "", flags, &attributes, sizeof attributes) == 0;
}

bool attach(int mount, const char* path) noexcept {
  return ::move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool detach(const char* path) noexcept {
  return ::umount2(path, MNT_DETACH) == 0;
}

bool make_private() noexcept {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool pivot_here() noexcept {
  return ::syscall(SYS_pivot_root, ".", ".") == 0;
}

} // namespace troupe::isolation
