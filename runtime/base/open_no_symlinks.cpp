#include "runtime/base/open_no_symlinks.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace troupe::isolation {

namespace {

/// Closes `directory`. What is opened may be anything but a link.
int step_into(int directory, const char* name) noexcept {
  int next = ::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  int error = errno;
  ::close(directory);
  struct stat about {};
  if (next >= 0 && ::fstat(next, &about) == 0 && !S_ISLNK(about.st_mode))
    return next;
  if (next >= 0) {
    error = ELOOP;
    ::close(next);
  }
  errno = error;
  return -1;
}

/// In one call, since Linux 5.6; ENOSYS or EPERM: a filter is in its way.
int open_at_once(const char* path) noexcept {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(
    ::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

bool has_parent_step(const char* path) noexcept {
  for (; (path = std::strstr(path, "/..")) != nullptr; path += 3)
    if (path[3] == '/' || path[3] == '\0')
      return true;
  return false;
}

int open_step_by_step(const char* path) noexcept {
  int at = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char name[NAME_MAX + 1];
  while (at >= 0) {
    path += std::strspn(path, "/");
    auto size = std::strcspn(path, "/");
    if (size == 0)
      break;
    if (size > NAME_MAX) {
      ::close(at);
      errno = ENAMETOOLONG;
      return -1;
    }
    std::memcpy(name, path, size);
    name[size] = '\0';
    at = step_into(at, name);
    path += size;
  }
  return at;
}

} // namespace

int open_exactly(const char* path) noexcept {
  if (path[0] != '/' || has_parent_step(path)) {
    errno = EINVAL;
    return -1;
  }
  int opened = open_at_once(path);
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM))
    return opened;
  return open_step_by_step(path);
}

} // namespace troupe::isolation
