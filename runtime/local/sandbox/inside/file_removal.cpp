// A tree is taken away by descriptors, with a bound on how many are open: what
// lies deeper is moved up first.
#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

namespace troupe::inside {

namespace {

constexpr int max_open_levels = 64;

class removal {
public:
  /// Takes away what `name` in `folder` is. 0 or errno.
  int remove(int folder, const char* name, int depth) {
    if (::unlinkat(folder, name, 0) == 0)
      return 0;
    if (errno != EISDIR && errno != EPERM)
      return errno;
    if (depth >= max_open_levels)
      return move_up(folder, name);
    unique_fd inside{open_to_empty(folder, name)};
    if (!inside)
      return errno;
    if (depth == 0)
      top_ = inside.get();
    for (;;) {
      if (const int error = empty(inside.get(), depth); error != 0)
        return error;
      if (::unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return 0;
      if (errno != ENOTEMPTY) // somebody adds to it
        return errno;
    }
  }

private:
  /// Its owner may have taken the right to look into it away.
  static int open_to_empty(int folder, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int inside = ::openat(folder, name, flags);
    if (inside >= 0 || errno != EACCES)
      return inside;
    const unique_fd place{
      ::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    const auto path = "/proc/self/fd/" + std::to_string(place.get());
    if (!place || ::chmod(path.c_str(), 0700) != 0)
      return -1;
    return ::openat(folder, name, flags);
  }

  int empty(int folder, int depth) {
    ::fchmod(folder, 0700); // to write to it; if it is not ours, that shows
    const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto* stream = again < 0 ? nullptr : ::fdopendir(again);
    if (stream == nullptr) {
      const int error = errno;
      ::close(again);
      return error;
    }
    int error = 0;
    while (const auto* entry = error == 0 ? ::readdir(stream) : nullptr) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..")
        continue;
      error = remove(folder, entry->d_name, depth + 1);
      if (error == ENOENT)
        error = 0; // gone by itself
    }
    ::closedir(stream);
    return error;
  }

  int move_up(int folder, const char* name) {
    char above[48];
    std::snprintf(above, sizeof above, ".troupe-%d-%llu", ::getpid(),
                  static_cast<unsigned long long>(moved_++));
    return ::renameat(folder, name, top_, above) == 0 ? 0 : errno;
  }

  int top_ = -1; // what is taken away; it is emptied until nothing is in it
  std::uint64_t moved_ = 0;
};

} // namespace

int remove_all(const char* path) noexcept {
  std::string_view whole{path};
  while (whole.size() > 1 && whole.ends_with('/'))
    whole.remove_suffix(1);
  const auto slash = whole.rfind('/');
  const std::string above{slash == 0 ? "/" : whole.substr(0, slash)};
  const std::string name{whole.substr(slash + 1)};
  if (name.empty() || name == "." || name == "..")
    return EBUSY;
  const unique_fd folder{
    open_inside(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder)
    return errno;
  return removal{}.remove(folder.get(), name.c_str(), 0);
}

} // namespace troupe::inside
