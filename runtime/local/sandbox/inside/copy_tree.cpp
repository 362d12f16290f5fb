#include "runtime/local/sandbox/inside/copy_tree.hpp"

#include "runtime/base/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

namespace troupe::isolation {

namespace {

constexpr int max_depth = 200; // two descriptors each

using open_directory = std::unique_ptr<DIR, int (*)(DIR*)>;

/// What an overlay in a user namespace notes, and what users set themselves.
int copy_attributes(int from, int to) noexcept {
  char names[4096];
  char value[4096];
  const auto size = ::flistxattr(from, names, sizeof names);
  if (size < 0)
    return errno == ENOTSUP ? 0 : errno;
  for (const char* name = names; name < names + size;
       name += std::strlen(name) + 1) {
    if (!std::string_view{name}.starts_with("user."))
      continue;
    const auto bytes = ::fgetxattr(from, name, value, sizeof value);
    if (bytes < 0
        || ::fsetxattr(to, name, value, static_cast<std::size_t>(bytes), 0)
          != 0)
      return errno;
  }
  return 0;
}

int copy_facts(int from, int to, const struct stat& about) noexcept {
  if (const int error = copy_attributes(from, to); error != 0)
    return error;
  const timespec times[2] = {about.st_atim, about.st_mtim};
  if (::fchmod(to, about.st_mode & 07777) != 0 || ::futimens(to, times) != 0)
    return errno;
  return 0;
}

/// Holes stay holes.
int copy_bytes(int from, int to, off_t size) noexcept {
  if (::ftruncate(to, size) != 0)
    return errno;
  for (off_t at = 0; at < size;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0)
      return errno == ENXIO ? 0 : errno; // a hole up to the end
    const off_t hole = ::lseek(from, data, SEEK_HOLE);
    if (hole < 0 || ::lseek(to, data, SEEK_SET) < 0
        || ::lseek(from, data, SEEK_SET) < 0)
      return errno;
    for (at = data; at < hole;) {
      char buffer[64u << 10];
      const auto wanted
        = std::min<off_t>(hole - at, static_cast<off_t>(sizeof buffer));
      const auto n = ::read(from, buffer, static_cast<std::size_t>(wanted));
      if (n == 0)
        return 0; // it became shorter
      if (n < 0 || ::write(to, buffer, static_cast<std::size_t>(n)) != n)
        return n < 0 ? errno : ENOSPC;
      at += n;
    }
  }
  return 0;
}

int copy_file(int from, int to, const char* name,
              const struct stat& about) noexcept {
  const unique_fd source{
    ::openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
  const unique_fd copy{::openat(
    to, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  struct stat now {};
  if (!source || !copy || ::fstat(source.get(), &now) != 0)
    return errno;
  if (!S_ISREG(now.st_mode))
    return EAGAIN; // it is another one by now
  if (const int error = copy_bytes(source.get(), copy.get(), now.st_size);
      error != 0)
    return error;
  return copy_facts(source.get(), copy.get(), about);
}

int copy_link(int from, int to, const char* name) noexcept {
  char target[PATH_MAX];
  const auto size = ::readlinkat(from, name, target, sizeof target - 1);
  if (size < 0)
    return errno;
  target[size] = '\0';
  return ::symlinkat(target, to, name) == 0 ? 0 : errno;
}

int copy_directory(int from, int to, int depth) noexcept;

int copy_below(int from, int to, const char* name, const struct stat& about,
               int depth) noexcept {
  if (depth >= max_depth)
    return EOVERFLOW;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  unique_fd source{::openat(from, name, flags)};
  if (!source || ::mkdirat(to, name, 0700) != 0)
    return errno;
  const unique_fd copy{::openat(to, name, flags)};
  if (!copy)
    return errno;
  if (const int error = copy_directory(source.get(), copy.get(), depth + 1);
      error != 0)
    return error;
  return copy_facts(source.get(), copy.get(), about);
}

int copy_entry(int from, int to, const char* name, int depth) noexcept {
  struct stat about {};
  if (::fstatat(from, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : errno;
  switch (about.st_mode & S_IFMT) {
  case S_IFREG:
    return copy_file(from, to, name, about);
  case S_IFDIR:
    return copy_below(from, to, name, about, depth);
  case S_IFLNK:
    return copy_link(from, to, name);
  case S_IFIFO:
    return ::mkfifoat(to, name, about.st_mode & 0777) == 0 ? 0 : errno;
  case S_IFCHR:
    // A name that was removed; other devices there are none.
    return about.st_rdev == 0
      ? (::mknodat(to, name, S_IFCHR, 0) == 0 ? 0 : errno)
      : 0;
  default:
    return 0; // a socket is nothing without its process
  }
}

int copy_directory(int from, int to, int depth) noexcept {
  const int again = ::openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const open_directory list{again < 0 ? nullptr : ::fdopendir(again),
                            &::closedir};
  if (!list)
    return errno;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(list.get());
    if (entry == nullptr)
      return errno;
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..")
      continue;
    if (const int error = copy_entry(from, to, entry->d_name, depth);
        error != 0)
      return error;
  }
}

} // namespace

int copy_tree(const char* from, const char* to) noexcept {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const unique_fd source{::open(from, flags)};
  const unique_fd copy{::open(to, flags)};
  struct stat about {};
  if (!source || !copy || ::fstat(source.get(), &about) != 0)
    return errno;
  if (const int error = copy_directory(source.get(), copy.get(), 0); error != 0)
    return error;
  return copy_facts(source.get(), copy.get(), about);
}

} // namespace troupe::isolation
