#include "runtime/local/sandbox/inside/file_work.hpp"

#include "runtime/base/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace troupe::inside {

const std::uint64_t open_to_read = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
const std::uint64_t open_to_name = O_PATH | O_CLOEXEC;

namespace {

constexpr std::uint64_t open_folder = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// Folders that were not made by then are made too fast for us.
constexpr int max_attempts = 8;

/// A path as the folder it lies in and its last name.
struct split_path {
  explicit split_path(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/'))
      path.remove_suffix(1);
    const auto slash = path.rfind('/');
    folder = slash == 0 ? "/" : std::string{path.substr(0, slash)};
    name = path.substr(slash + 1);
  }
  /// 0, or why no file can have that name.
  int refuse() const {
    if (name.empty() || name == "." || name == "..")
      return EBUSY; // the root, or what may be it
    return name.size() > NAME_MAX ? ENAMETOOLONG : 0;
  }

  std::string folder;
  std::string name;
};

/// Opens a folder, and makes what is missing of it, one level at a time.
int open_or_make_folder(const std::string& path, int depth = 0) {
  for (int i = 0; i < max_attempts; ++i) {
    const int folder = open_inside(path.c_str(), open_folder);
    if (folder >= 0 || errno != ENOENT || path == "/")
      return folder;
    const split_path parts{path};
    if (depth > PATH_MAX / 2 || parts.refuse() != 0)
      return -1;
    const unique_fd above{open_or_make_folder(parts.folder, depth + 1)};
    if (!above)
      return -1;
    if (::mkdirat(above.get(), parts.name.c_str(), 0755) != 0
        && errno != EEXIST)
      return -1;
  }
  errno = ENOENT; // a link that leads nowhere, or somebody takes it away
  return -1;
}

/// A name that cannot be guessed, so that nothing lies there already.
std::string hidden_name() {
  std::uint64_t number = 0;
  [[maybe_unused]] const auto n = ::getrandom(&number, sizeof number, 0);
  char text[40];
  std::snprintf(text, sizeof text, ".troupe-%016llx",
                static_cast<unsigned long long>(number));
  return text;
}

int copy_all(int from, int to) noexcept {
  static char buffer[64 << 10];
  for (off_t at = 0;;) {
    const auto size = ::pread(from, buffer, sizeof buffer, at);
    if (size <= 0)
      return size < 0 ? errno : 0;
    at += size;
    for (ssize_t done = 0; done < size;) {
      const auto written
        = ::write(to, buffer + done, static_cast<std::size_t>(size - done));
      if (written < 0)
        return errno;
      done += written;
    }
  }
}

/// The permissions of what will be replaced, or those of any new file.
mode_t mode_for(int folder, const char* name) noexcept {
  struct stat about {};
  if (::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0
      && S_ISREG(about.st_mode))
    return about.st_mode & 0777;
  return 0644;
}

} // namespace

int open_inside(const char* path, std::uint64_t flags) noexcept {
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  static const int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
}

file_kind kind_of(mode_t mode) noexcept {
  return S_ISREG(mode) ? file_kind::file
    : S_ISDIR(mode)    ? file_kind::folder
    : S_ISLNK(mode)    ? file_kind::link
                       : file_kind::other;
}

std::string target_of(int folder, const char* name) {
  char target[PATH_MAX];
  const auto size = ::readlinkat(folder, name, target, sizeof target);
  return {target, static_cast<std::size_t>(size > 0 ? size : 0)};
}

int write_file(const char* path, int content) noexcept {
  const split_path parts{path};
  if (const int no = parts.refuse(); no != 0)
    return no;
  const unique_fd folder{open_or_make_folder(parts.folder)};
  if (!folder)
    return errno;
  const auto beside = hidden_name();
  unique_fd file{::openat(folder.get(), beside.c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!file)
    return errno;
  int error = copy_all(content, file.get());
  if (error == 0
      && (::fchmod(file.get(), mode_for(folder.get(), parts.name.c_str())) != 0
          || ::renameat(folder.get(), beside.c_str(), folder.get(),
                        parts.name.c_str())
            != 0))
    error = errno;
  if (error != 0)
    ::unlinkat(folder.get(), beside.c_str(), 0);
  return error;
}

int make_folder(const char* path) noexcept {
  const unique_fd folder{open_or_make_folder(path)};
  return folder ? 0 : errno;
}

int move_file(const char* from, const char* to) noexcept {
  const split_path old_parts{from};
  const split_path new_parts{to};
  for (const auto* parts : {&old_parts, &new_parts})
    if (const int no = parts->refuse(); no != 0)
      return no;
  const unique_fd old_folder{
    open_inside(old_parts.folder.c_str(), open_folder)};
  if (!old_folder)
    return errno;
  const unique_fd new_folder{
    open_inside(new_parts.folder.c_str(), open_folder)};
  if (!new_folder)
    return errno;
  return ::renameat(old_folder.get(), old_parts.name.c_str(), new_folder.get(),
                    new_parts.name.c_str())
      == 0
    ? 0
    : errno;
}

int each_entry(const char* path, const std::function<void(hand_entry)>& visit) {
  unique_fd folder{open_inside(path, open_to_read | O_DIRECTORY)};
  if (!folder)
    return errno;
  auto* stream = ::fdopendir(folder.get());
  if (stream == nullptr)
    return errno;
  const int fd = folder.release();
  errno = 0;
  while (const auto* entry = ::readdir(stream)) {
    const std::string_view name{entry->d_name};
    struct stat about {};
    // What is gone by now is not listed.
    if (name != "." && name != ".."
        && ::fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0)
      visit({std::string{name}, kind_of(about.st_mode),
             static_cast<std::uint64_t>(about.st_size),
             S_ISLNK(about.st_mode) ? target_of(fd, entry->d_name)
                                    : std::string{}});
    errno = 0;
  }
  const int error = errno;
  ::closedir(stream);
  return error;
}

} // namespace troupe::inside
