#include "runtime/local/sandbox/inside/living_tree.hpp"

#include "runtime/local/isolation/mount_calls.hpp"
#include "runtime/local/sandbox/inside/copy_tree.hpp"
#include "runtime/local/sandbox/inside/living_proc.hpp"
#include "runtime/local/sandbox/inside/overlay.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace troupe::isolation {

namespace {

struct device_place {
  const char* inside;
  const char* in_upper;
};

/// In the order of `opened_sources::devices`.
constexpr std::array<device_place, 5> device_places{
  {{"new/dev/null", "0/upper/dev/null"},
   {"new/dev/zero", "0/upper/dev/zero"},
   {"new/dev/full", "0/upper/dev/full"},
   {"new/dev/random", "0/upper/dev/random"},
   {"new/dev/urandom", "0/upper/dev/urandom"}}};

/// Every directory on the way to `path`, and that one.
bool make_directories(const char* path) noexcept {
  char buffer[4096];
  const auto size = std::strlen(path);
  if (size >= sizeof buffer) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (std::size_t i = 1; i <= size; ++i) {
    if (path[i] != '/' && path[i] != '\0')
      continue;
    std::memcpy(buffer, path, i);
    buffer[i] = '\0';
    if (::mkdir(buffer, 0755) != 0 && errno != EEXIST)
      return false;
  }
  return true;
}

/// The bytes and inodes of the whole sandbox.
int new_store(const tree_plan& tree) noexcept {
  char bytes[24];
  char inodes[24];
  std::snprintf(bytes, sizeof bytes, "%llu",
                static_cast<unsigned long long>(tree.scratch_bytes));
  std::snprintf(inodes, sizeof inodes, "%llu",
                static_cast<unsigned long long>(tree.scratch_inodes));
  return new_mount("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                   {{{"mode", "0755"},
                     {"size", bytes},
                     {"nr_inodes", inodes},
                     {nullptr, nullptr}}});
}

/// "3/lower" and its sisters.
struct layer_paths {
  explicit layer_paths(int number) noexcept {
    std::snprintf(lower, sizeof lower, "%d/lower", number);
    std::snprintf(upper, sizeof upper, "%d/upper", number);
    std::snprintf(work, sizeof work, "%d/work", number);
  }
  char lower[24];
  char upper[24];
  char work[24];
};

/// What the user may write from the first moment, and places to mount on.
bool furnish(const opened_sources& from) noexcept {
  for (const char* path : {"0/upper/dev/pts", "0/upper/dev/shm", "0/upper/proc",
                           "0/upper/tmp", "0/upper/home/user", "shm", "new"})
    if (!make_directories(path))
      return false;
  // Not by mkdir, whose modes the umask cuts.
  if (::chmod("0/upper/tmp", 01777) != 0 || ::chmod("shm", 01777) != 0)
    return false;
  const auto make_place = [](const char* path) {
    const int fd = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
    ::close(fd);
    return fd >= 0;
  };
  for (const auto& device : device_places)
    if (!make_place(device.in_upper))
      return false;
  if (from.terminal >= 0 && !make_place("0/upper/dev/tty"))
    return false;
  constexpr std::array<std::array<const char*, 2>, 5> links{
    {{"pts/ptmx", "0/upper/dev/ptmx"},
     {"/proc/self/fd", "0/upper/dev/fd"},
     {"/proc/self/fd/0", "0/upper/dev/stdin"},
     {"/proc/self/fd/1", "0/upper/dev/stdout"},
     {"/proc/self/fd/2", "0/upper/dev/stderr"}}};
  for (const auto& [target, path] : links)
    if (::symlink(target, path) != 0)
      return false;
  return true;
}

/// "layers/2/3/upper": what the third layer has written into one overlay.
struct written_path {
  written_path() = default;
  written_path(int layer, int number) noexcept {
    std::snprintf(text, sizeof text, "layers/%d/%d/upper", layer, number);
  }
  char text[40];
};

/// A layer must hang in this namespace before an overlay takes it; below the
/// store, which nothing but the overlays can reach in the end.
int overlay_of(int number, int layers, opened_sources& from) noexcept {
  const layer_paths paths{number};
  if (!attach(from.mounts[number], paths.lower))
    return -1;
  ::close(from.mounts[number]);
  from.mounts[number] = -1;
  std::array<written_path, max_layers> written;
  std::array<const char*, max_layers + 1> lowers;
  std::size_t count = 0;
  for (int i = 0; i < layers; ++i) {
    written[count] = written_path{i, number};
    lowers[count] = written[count].text;
    ++count;
  }
  lowers[count++] = paths.lower;
  return new_overlay({lowers.data(), count}, paths.upper, paths.work);
}

/// Where a mount of the tree goes is made by us, above what others wrote there:
/// no link of theirs is followed.
bool make_places(const tree_plan& tree) noexcept {
  for (const auto& shown : tree.shown) {
    char place[4096];
    const int size
      = std::snprintf(place, sizeof place, "0/upper%s", shown.inside.c_str());
    if (size >= static_cast<int>(sizeof place) || !make_directories(place))
      return false;
  }
  return true;
}

bool attach_layers(const tree_plan& tree) noexcept {
  for (std::size_t i = 0; i < tree.layers.size(); ++i) {
    char place[32];
    std::snprintf(place, sizeof place, "layers/%zu", i);
    const auto& layer = tree.layers[i];
    const int mount = layer.own ? layer.mount : copy_mount_at(layer.mount, ".");
    const bool good
      = mount >= 0 && make_directories(place) && attach(mount, place);
    ::close(layer.mount);
    if (!layer.own)
      ::close(mount);
    if (!good)
      return false;
  }
  return true;
}

bool make_layer_directories(int count) noexcept {
  for (int i = 0; i < count; ++i) {
    const layer_paths paths{i};
    for (const char* path : {paths.lower, paths.upper, paths.work})
      if (!make_directories(path))
        return false;
  }
  return true;
}

outcome show_layers(const tree_plan& tree, opened_sources& from) noexcept {
  const auto layers = static_cast<int>(tree.layers.size());
  for (int i = 0; i < from.count; ++i) {
    if (from.mounts[i] < 0)
      continue; // optional and absent
    const int mount = overlay_of(i, layers, from);
    if (mount < 0)
      return failed(step::tree);
    char place[4096];
    const int size
      = std::snprintf(place, sizeof place, "new%s",
                      tree.shown[static_cast<std::size_t>(i)].inside.c_str());
    // A place is the root layer's, or is made in the user's own.
    const bool good = size < static_cast<int>(sizeof place)
      && make_directories(place) && attach(mount, place);
    const auto no = failed(step::bind);
    ::close(mount);
    if (!good)
      return no;
  }
  return {};
}

outcome show_device(int& device, const char* inside) noexcept {
  const bool good
    = set_attributes(device,
                     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                     false)
    && attach(device, inside);
  const auto no = failed(step::devices);
  ::close(device);
  device = -1;
  return good ? outcome{} : no;
}

outcome show_devices_and_memory(int store, opened_sources& from) noexcept {
  for (std::size_t i = 0; i < device_places.size(); ++i)
    if (auto no = show_device(from.devices[i], device_places[i].inside);
        !no.ok())
      return no;
  if (from.terminal >= 0)
    if (auto no = show_device(from.terminal, "new/dev/tty"); !no.ok())
      return no;
  const int shm = copy_mount_at(store, "shm");
  const bool good = shm >= 0 && attach(shm, "new/dev/shm");
  const auto no = failed(step::scratch);
  ::close(shm);
  return good ? outcome{} : no;
}

/// Terminals of its own, as many as its caller may begin processes.
outcome show_terminals() noexcept {
  const int pts = new_mount("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                            {{{"ptmxmode", "0666"},
                              {"mode", "0600"},
                              {"max", "64"},
                              {nullptr, nullptr}}});
  const bool good = pts >= 0 && attach(pts, "new/dev/pts");
  const auto no = failed(step::devices);
  ::close(pts);
  return good ? outcome{} : no;
}

outcome assemble(const tree_plan& tree, opened_sources& from,
                 int store) noexcept {
  if (!make_layer_directories(from.count) || !furnish(from)
      || !write_proc_covers(tree.told)
      || !(tree.layers.empty() || make_places(tree)))
    return failed(step::scratch);
  if (!attach_layers(tree))
    return failed(step::tree);
  if (auto no = show_layers(tree, from); !no.ok())
    return no;
  if (auto no = show_devices_and_memory(store, from); !no.ok())
    return no;
  return show_terminals();
}

/// Libraries tell processes apart by their numbers alone, and an interpreter
/// may have been in another sandbox before.
void begin_numbers_anywhere() noexcept {
  constexpr unsigned first = 300; // the kernel's, after the last one
  constexpr unsigned count = 30'000;
  unsigned any = 0;
  if (::getrandom(&any, sizeof any, 0) != sizeof any)
    return;
  char text[16];
  const int size = std::snprintf(text, sizeof text, "%u", first + any % count);
  const int fd = ::open("proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  [[maybe_unused]] const auto n
    = ::write(fd, text, static_cast<std::size_t>(size));
  ::close(fd);
}

/// No namespace can be made below this one, even without the filter, and what
/// is watched with inotify is bounded. In the network every port is open to a
/// server, and what a socket holds is bounded: it is the host's memory. Last of
/// all, since mounting takes namespaces; and from the old root, whose /proc has
/// the counters. Where that is read-only the filter stands alone, and the
/// host's own bounds hold.
void bound_namespaces() noexcept {
  begin_numbers_anywhere();
  constexpr std::array<std::array<const char*, 2>, 13> bounds{
    {{"proc/sys/user/max_user_namespaces", "0"},
     {"proc/sys/user/max_pid_namespaces", "0"},
     {"proc/sys/user/max_net_namespaces", "0"},
     {"proc/sys/user/max_ipc_namespaces", "0"},
     {"proc/sys/user/max_uts_namespaces", "0"},
     {"proc/sys/user/max_mnt_namespaces", "0"},
     {"proc/sys/user/max_cgroup_namespaces", "0"},
     {"proc/sys/user/max_inotify_instances", "128"},
     {"proc/sys/user/max_inotify_watches", "65536"},
     {"proc/sys/net/ipv4/ip_unprivileged_port_start", "0"},
     {"proc/sys/net/ipv4/tcp_max_tw_buckets", "4096"},
     {"proc/sys/net/ipv4/tcp_wmem", "4096 16384 1048576"},
     {"proc/sys/net/ipv4/tcp_rmem", "4096 131072 1048576"}}};
  for (const auto& [path, text] : bounds) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    [[maybe_unused]] const auto n = ::write(fd, text, std::strlen(text));
    ::close(fd);
  }
}

/// "new" becomes the root, and nothing else is left. A new /proc is granted
/// only to who still sees the old one.
outcome enter_assembled(const tree_plan& tree, int store) noexcept {
  const int old_root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (old_root < 0 || ::chdir("new") != 0 || !pivot_here())
    return failed(step::pivot);
  if (tree.proc)
    if (auto no = show_living_proc(store); !no.ok())
      return no;
  if (::fchdir(old_root) != 0)
    return failed(step::pivot);
  bound_namespaces();
  if (!detach(".") || ::chdir("/") != 0)
    return failed(step::pivot);
  ::close(old_root);
  return {};
}

} // namespace

namespace {

/// Only a mount that was never attached can be copied into other namespaces,
/// since Linux 6.15: that one is kept, and a copy of it is used. -1: this
/// kernel has none, and no sandbox is made from this one.
int open_store(const tree_plan& tree, int& kept) noexcept {
  const int store = new_store(tree);
  kept = -1;
  if (store < 0)
    return -1;
  const int used = copy_mount_at(store, ".");
  if (used >= 0)
    kept = store;
  const int root = used >= 0 ? used : store;
  // Any directory that every host has; seen in this namespace only.
  if ((!attach(root, "/tmp") && !attach(root, "/proc")) || ::fchdir(root) != 0)
    return -1;
  return root;
}

} // namespace

outcome build_living_tree(const tree_plan& tree, opened_sources& from,
                          int& kept) noexcept {
  if (tree.shown.empty() || tree.shown.front().inside != "/"
      || tree.layers.size() > max_layers)
    return {step::tree, EINVAL};
  if (!make_private())
    return failed(step::tree);
  const int store = open_store(tree, kept);
  if (store < 0)
    return failed(step::scratch);
  if (auto no = assemble(tree, from, store); !no.ok())
    return no;
  const auto no = enter_assembled(tree, store);
  ::close(store);
  return no;
}

outcome copy_written_tree(const tree_plan& tree, int& kept) noexcept {
  const auto count = static_cast<int>(tree.shown.size());
  if (tree.layers.size() != 1 || !make_private())
    return {step::tree, EINVAL};
  const int store = open_store(tree, kept);
  if (store < 0 || !make_layer_directories(count) || !attach_layers(tree))
    return failed(step::scratch);
  for (int i = 0; i < count; ++i)
    if (const int error
        = copy_tree(written_path{0, i}.text, layer_paths{i}.upper);
        error != 0)
      return {step::tree, error};
  ::close(store);
  return kept >= 0 ? outcome{} : outcome{step::scratch, ENOTSUP};
}

} // namespace troupe::isolation
