#include "runtime/base/open_no_symlinks.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
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

} // namespace

// Step by step instead of openat2: no filter of a container is in its way.
int open_exactly(const char* path) noexcept {
  if (path[0] != '/') {
    errno = EINVAL;
    return -1;
  }
  int at = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char name[NAME_MAX + 1];
  while (at >= 0) {
    path += std::strspn(path, "/");
    auto size = std::strcspn(path, "/");
    if (size == 0)
      break;
    if (size > NAME_MAX || (size == 2 && std::memcmp(path, "..", 2) == 0)) {
      ::close(at);
      errno = EINVAL;
      return -1;
    }
    std::memcpy(name, path, size);
    name[size] = '\0';
    at = step_into(at, name);
    path += size;
  }
  return at;
}

} // namespace troupe::isolation
