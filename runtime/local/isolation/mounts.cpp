#include "runtime/local/isolation/mounts.hpp"

#include "runtime/local/isolation/mount_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace troupe::isolation {

namespace {

struct device {
  const char* path;
  unsigned major;
  unsigned minor;
};

constexpr std::array<device, 5> devices{{{"/dev/null", 1, 3},
                                         {"/dev/zero", 1, 5},
                                         {"/dev/full", 1, 7},
                                         {"/dev/random", 1, 8},
                                         {"/dev/urandom", 1, 9}}};

/// The root holds names, links and a few lines of text.
constexpr const char* root_bytes = "1048576";
constexpr const char* root_inodes = "1024";

/// Makes every directory above `path`.
bool make_parents(const char* path) noexcept {
  char buffer[4096];
  auto size = std::strlen(path);
  if (size == 0 || size >= sizeof buffer || path[0] != '/') {
    errno = EINVAL;
    return false;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if (path[i] != '/')
      continue;
    std::memcpy(buffer, path, i);
    buffer[i] = '\0';
    if (::mkdir(buffer, 0755) != 0 && errno != EEXIST)
      return false;
  }
  return true;
}

bool make_file(const char* path, const char* text, std::size_t size) noexcept {
  int fd
    = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0)
    return false;
  auto written = ::write(fd, text, size);
  ::close(fd);
  return written == static_cast<ssize_t>(size);
}

/// A place to mount on: a directory or a file, as the source is. What is
/// there already (inside another source, say) will do.
bool make_place(int source, const char* path) noexcept {
  struct stat about {};
  if (::fstat(source, &about) != 0 || !make_parents(path))
    return false;
  if (S_ISDIR(about.st_mode))
    return ::mkdir(path, 0755) == 0 || errno == EEXIST;
  int fd = ::open(
    path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0444);
  if (fd < 0)
    return errno == EROFS && ::access(path, F_OK) == 0;
  ::close(fd);
  return true;
}

bool is_device(int fd, const device& wanted) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISCHR(about.st_mode)
    && about.st_rdev == makedev(wanted.major, wanted.minor);
}

bool lies_in_scratch(const mount_source& shown) noexcept {
  return shown.inside.starts_with("/tmp/")
    || shown.inside.starts_with("/dev/shm/");
}

/// What lies inside the scratch must wait until that is there.
outcome show_sources(const tree_plan& tree, opened_sources& from,
                     bool in_scratch) noexcept {
  for (int i = 0; i < from.count; ++i) {
    const auto& shown = tree.shown[static_cast<std::size_t>(i)];
    if (from.mounts[i] < 0 || lies_in_scratch(shown) != in_scratch)
      continue; // optional and absent, or not its turn
    std::uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    if (!shown.writable)
      attributes |= MOUNT_ATTR_RDONLY;
    if (!set_attributes(from.mounts[i], attributes, true)
        || !make_place(from.mounts[i], shown.inside.c_str())
        || !attach(from.mounts[i], shown.inside.c_str()))
      return failed(step::bind);
    ::close(from.mounts[i]);
    from.mounts[i] = -1;
  }
  return {};
}

outcome show_devices(opened_sources& from) noexcept {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    // Read-only: a device can be written to all the same, its times cannot.
    if (!set_attributes(
          from.devices[i],
          MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, false)
        || !make_place(from.devices[i], devices[i].path)
        || !attach(from.devices[i], devices[i].path))
      return failed(step::devices);
    ::close(from.devices[i]);
    from.devices[i] = -1;
    // The mask is worth what is really there.
    int check = ::open(devices[i].path, O_PATH | O_CLOEXEC);
    bool right = check >= 0 && is_device(check, devices[i]);
    ::close(check);
    if (!right)
      return {step::devices, ENODEV};
  }
  constexpr std::array<std::array<const char*, 2>, 4> links{
    {{"/proc/self/fd", "/dev/fd"},
     {"/proc/self/fd/0", "/dev/stdin"},
     {"/proc/self/fd/1", "/dev/stdout"},
     {"/proc/self/fd/2", "/dev/stderr"}}};
  for (const auto& [target, path] : links)
    if (::symlink(target, path) != 0)
      return failed(step::devices);
  return {};
}

outcome write_entries(const tree_plan& tree) noexcept {
  for (const auto& link : tree.links)
    if (!make_parents(link.inside.c_str())
        || ::symlink(link.content.c_str(), link.inside.c_str()) != 0)
      return failed(step::tree);
  for (const auto& file : tree.files)
    if (!make_parents(file.inside.c_str())
        || !make_file(file.inside.c_str(), file.content.data(),
                      file.content.size()))
      return failed(step::tree);
  for (const char* place : {"/tmp", "/dev", "/dev/shm", "/proc"})
    if (::mkdir(place, 0755) != 0 && errno != EEXIST)
      return failed(step::tree);
  return {};
}

/// A new tmpfs becomes the root, still empty; the old tree hides below it.
outcome enter_empty_root(int& old_root) noexcept {
  if (!make_private())
    return failed(step::tree);
  int root = new_mount("tmpfs", 0,
                       {{{"mode", "0755"},
                         {"size", root_bytes},
                         {"nr_inodes", root_inodes},
                         {nullptr, nullptr}}});
  if (root < 0)
    return failed(step::tree);
  // Any directory that every host has; seen by nobody but this namespace.
  if (!attach(root, "/tmp") && !attach(root, "/proc"))
    return failed(step::tree);
  old_root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (old_root < 0 || ::fchdir(root) != 0 || !pivot_here()
      || ::fchdir(old_root) != 0)
    return failed(step::pivot);
  ::close(root);
  return {};
}

/// Nothing but the new tree can be reached from here on.
outcome leave_old_root(int old_root) noexcept {
  if (::fchdir(old_root) != 0 || !detach(".") || ::chdir("/") != 0)
    return failed(step::pivot);
  ::close(old_root);
  // The bare tmpfs is finished: nobody adds to it, nothing in it is executed.
  int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool good = root >= 0
    && set_attributes(root,
                      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                      false);
  auto no = failed(step::pivot);
  ::close(root);
  return good ? outcome{} : no;
}

} // namespace

outcome open_sources(const tree_plan& tree, opened_sources& out) noexcept {
  if (tree.shown.size() > max_sources)
    return {step::open_sources, E2BIG};
  for (const auto& shown : tree.shown) {
    int fd = shown.mount;
    if (fd < 0)
      fd = copy_mount(shown.host.c_str(), true, shown.exactly);
    if (fd < 0 && !(shown.optional && (errno == ENOENT || errno == ENOTDIR)))
      return failed(step::open_sources);
    out.mounts[out.count++] = fd;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    out.devices[i] = copy_mount(devices[i].path, false);
    if (out.devices[i] < 0)
      return failed(step::devices);
    if (!is_device(out.devices[i], devices[i]))
      return {step::devices, ENODEV};
  }
  return {};
}

bool fills_scratch(const tree_plan& tree) noexcept {
  return std::ranges::any_of(tree.shown, lies_in_scratch);
}

outcome build_tree(const tree_plan& tree, opened_sources& from,
                   bool scratch) noexcept {
  int old_root = -1;
  if (auto no = enter_empty_root(old_root); !no.ok())
    return no;
  if (auto no = write_entries(tree); !no.ok())
    return no;
  if (auto no = show_sources(tree, from, false); !no.ok())
    return no;
  if (auto no = show_devices(from); !no.ok())
    return no;
  if (scratch)
    if (auto no = fresh_scratch(tree); !no.ok())
      return no;
  if (scratch)
    if (auto no = show_sources(tree, from, true); !no.ok())
      return no;
  // A new /proc is granted only to who still sees the old one.
  if (tree.proc)
    if (auto no = fresh_proc(); !no.ok())
      return no;
  return leave_old_root(old_root);
}

namespace {

/// One tmpfs, two faces: the bounds hold for both together.
bool make_faces(int scratch) noexcept {
  constexpr mode_t for_all = 01777;
  const auto mask = ::umask(0);
  const bool good = ::mkdirat(scratch, "tmp", for_all) == 0
    && ::mkdirat(scratch, "shm", for_all) == 0;
  ::umask(mask);
  return good;
}

/// The bare tmpfs stays below the face that covers it. To take a mount away
/// again, or to close one that is attached nowhere, costs a grace period of the
/// kernel, some 0.15 ms.
bool show_faces(int scratch) noexcept {
  if (!attach(scratch, "/tmp"))
    return false;
  const int tmp = copy_mount_at(scratch, "tmp");
  const int shm = copy_mount_at(scratch, "shm");
  const bool good
    = tmp >= 0 && shm >= 0 && attach(tmp, "/tmp") && attach(shm, "/dev/shm");
  const int error = errno;
  ::close(tmp);
  ::close(shm);
  errno = error;
  return good;
}

} // namespace

outcome fresh_scratch(const tree_plan& tree) noexcept {
  char bytes[24];
  char inodes[24];
  std::snprintf(bytes, sizeof bytes, "%llu",
                static_cast<unsigned long long>(tree.scratch_bytes));
  std::snprintf(inodes, sizeof inodes, "%llu",
                static_cast<unsigned long long>(tree.scratch_inodes));
  int scratch = new_mount("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                          {{{"mode", "0755"},
                            {"size", bytes},
                            {"nr_inodes", inodes},
                            {nullptr, nullptr}}});
  if (scratch < 0)
    return failed(step::scratch);
  bool good = make_faces(scratch) && show_faces(scratch);
  auto no = failed(step::scratch);
  ::close(scratch);
  return good ? outcome{} : no;
}

outcome fresh_proc() noexcept {
  int proc = new_mount("proc",
                       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
                         | MOUNT_ATTR_NOEXEC,
                       {{{"subset", "pid"},
                         {"hidepid", "invisible"},
                         {nullptr, nullptr},
                         {nullptr, nullptr}}});
  if (proc < 0)
    return failed(step::proc);
  bool good = attach(proc, "/proc");
  auto no = failed(step::proc);
  ::close(proc);
  return good ? outcome{} : no;
}

bool measure_scratch(const char* directory, scratch_use& out) noexcept {
  struct statfs about {};
  if (::statfs(directory, &about) != 0)
    return false;
  const auto block = static_cast<std::uint64_t>(about.f_bsize);
  out.free_bytes = static_cast<std::uint64_t>(about.f_bavail) * block;
  out.used_bytes
    = static_cast<std::uint64_t>(about.f_blocks - about.f_bfree) * block;
  out.free_inodes = about.f_ffree;
  out.used_inodes = about.f_files - about.f_ffree;
  return true;
}

} // namespace troupe::isolation
