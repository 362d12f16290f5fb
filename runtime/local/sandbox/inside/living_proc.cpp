#include "runtime/local/sandbox/inside/living_proc.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/mount_calls.hpp"
#include "runtime/local/isolation/mounts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::isolation {

namespace {

/// What a program may know of the machine: its processors, which any program
/// can ask for, what sysinfo(2) says, and settings, none of which is its own to
/// change. Links lead to the caller's own processes.
constexpr std::array<std::string_view, 7> left_as_it_is{
  "cpuinfo", "filesystems", "loadavg", "sys", "uptime", "version", "devices"};

/// The same number for everything: nothing is known of it.
std::string processor_times(std::uint32_t processors) {
  constexpr std::string_view nothing = " 0 0 0 0 0 0 0 0 0 0\n";
  std::string text = "cpu " + std::string{nothing};
  for (std::uint32_t i = 0; i < processors; ++i)
    text += "cpu" + std::to_string(i) + std::string{nothing};
  return text + "intr 0\nctxt 0\nbtime " + std::to_string(::time(nullptr))
    + "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n";
}

std::string memory_told(std::uint64_t bytes) {
  const auto kib = std::to_string(bytes / 1024);
  return "MemTotal: " + kib + " kB\nMemFree: " + kib
    + " kB\nMemAvailable: " + kib
    + " kB\nBuffers: 0 kB\nCached: 0 kB\nSwapCached: 0 kB\nActive: 0 kB\n"
      "Inactive: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nShmem: 0 kB\n"
      "Slab: 0 kB\nSReclaimable: 0 kB\nSUnreclaim: 0 kB\n";
}

bool write_cover(const char* path, std::string_view text) {
  const unique_fd file{
    ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444)};
  return file
    && ::write(file.get(), text.data(), text.size())
    == static_cast<ssize_t>(text.size());
}

bool cover(int store, const char* with, const std::string& place) {
  const unique_fd mount{copy_mount_at(store, with)};
  return mount
    && set_attributes(mount.get(),
                      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
                        | MOUNT_ATTR_NOEXEC,
                      false)
    && attach(mount.get(), place.c_str());
}

/// A mask is worth what is really there.
bool is_covered(const std::string& place) {
  struct statfs about {};
  const unique_fd there{::open(place.c_str(), O_PATH | O_CLOEXEC)};
  return there && ::fstatfs(there.get(), &about) == 0
    && about.f_type != PROC_SUPER_MAGIC;
}

bool is_number(const char* name) {
  return std::isdigit(static_cast<unsigned char>(name[0])) != 0;
}

/// Names that tell of the host, folders with a slash behind them.
bool find_others(std::vector<std::string>& out) {
  auto* all = ::opendir("/proc");
  if (all == nullptr)
    return false;
  while (const auto* entry = ::readdir(all)) {
    const std::string_view name{entry->d_name};
    if (name == "." || name == ".." || entry->d_type == DT_LNK
        || is_number(entry->d_name)
        || std::ranges::find(left_as_it_is, name) != left_as_it_is.end())
      continue;
    out.push_back(std::string{name} + (entry->d_type == DT_DIR ? "/" : ""));
  }
  ::closedir(all);
  return true;
}

bool cover_others(int store) {
  std::vector<std::string> others;
  if (!find_others(others))
    return false;
  for (auto name : others) {
    const bool folder = name.ends_with('/');
    if (folder)
      name.pop_back();
    const auto told = "proc/" + name;
    struct stat about {};
    const char* with = folder                          ? "proc/folder"
      : ::fstatat(store, told.c_str(), &about, 0) == 0 ? told.c_str()
                                                       : "proc/nothing";
    const auto place = "/proc/" + name;
    if (!cover(store, with, place) || !is_covered(place))
      return false;
  }
  return true;
}

} // namespace

bool write_proc_covers(const told_host& told) noexcept {
  return ::mkdir("proc", 0755) == 0 && ::mkdir("proc/folder", 0555) == 0
    && write_cover("proc/nothing", "")
    && write_cover("proc/stat", processor_times(told.processors))
    && write_cover("proc/meminfo", memory_told(told.memory_bytes));
}

outcome show_living_proc(int store) noexcept {
  const unique_fd whole{new_mount("proc",
                                  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID
                                    | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                                  {{{"hidepid", "invisible"},
                                    {nullptr, nullptr},
                                    {nullptr, nullptr},
                                    {nullptr, nullptr}}})};
  if (!whole || !attach(whole.get(), "/proc"))
    return fresh_proc();
  if (cover_others(store))
    return {};
  return detach("/proc") ? fresh_proc() : failed(step::proc);
}

} // namespace troupe::isolation
