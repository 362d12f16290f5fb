#include "runtime/local/sandbox/inside/tree_walk.hpp"

#include "runtime/base/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace troupe::inside {

namespace {

/// Each level holds a descriptor.
constexpr int deepest = 256;

constexpr int stopped = -1;

struct close_folder {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

bool is_root(int folder) {
  struct stat this_one {};
  struct stat root {};
  return ::fstat(folder, &this_one) == 0
    && ::fstatat(folder, "/", &root, AT_SYMLINK_NOFOLLOW) == 0
    && this_one.st_ino == root.st_ino && this_one.st_dev == root.st_dev;
}

bool is_the_kernel_s(std::string_view name) {
  return name == "proc" || name == "dev" || name == "sys";
}

class walk {
public:
  explicit walk(const std::function<walk_step(const walked&)>& visit)
      : visit_{visit} {}

  /// What is below a folder, whose descriptor it takes.
  int below(unique_fd folder, int depth) {
    if (depth > deepest)
      return ELOOP;
    const bool root = depth == 0 && is_root(folder.get());
    std::unique_ptr<DIR, close_folder> stream{::fdopendir(folder.get())};
    if (!stream)
      return errno;
    const int fd = folder.release();
    for (;;) {
      errno = 0;
      const auto* entry = ::readdir(stream.get());
      if (entry == nullptr)
        return errno;
      const std::string_view name{entry->d_name};
      if (name == "." || name == ".." || (root && is_the_kernel_s(name)))
        continue;
      if (const int no = one(fd, entry->d_name, depth); no != 0)
        return no;
    }
  }

private:
  int one(int folder, const char* name, int depth) {
    struct stat about {};
    if (::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
      return 0;
    const auto before = path_.size();
    if (before > 0)
      path_ += '/';
    path_ += name;
    const auto next = visit_({folder, name, path_, about});
    int no = next == walk_step::stop ? stopped : 0;
    if (next == walk_step::into && S_ISDIR(about.st_mode)) {
      unique_fd inner{
        ::openat(folder, name,
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
      if (inner)
        no = below(std::move(inner), depth + 1);
      else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        no = errno;
    }
    path_.resize(before);
    return no;
  }

  const std::function<walk_step(const walked&)>& visit_;
  std::string path_;
};

} // namespace

int walk_tree(int folder,
              const std::function<walk_step(const walked&)>& visit) {
  unique_fd own{::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!own)
    return errno;
  const int no = walk{visit}.below(std::move(own), 0);
  return no == stopped ? 0 : no;
}

} // namespace troupe::inside
