#include "runtime/local/sandbox/inside/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <unordered_set>
#include <vector>

namespace troupe::inside {

namespace {

/// A tree that is still there then outruns us.
constexpr int max_rounds = 256;
/// The same where other commands wait for their turn.
constexpr int max_tree_rounds = 16;

struct kinship {
  pid_t pid = 0;
  pid_t parent = 0;
};

/// The parent as /proc/PID/stat names it behind the program's name; 0: gone.
pid_t parent_of(const char* pid) noexcept {
  char path[64];
  char text[512];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  const auto size = ::read(file, text, sizeof text - 1);
  ::close(file);
  text[std::max<ssize_t>(size, 0)] = '\0';
  const char* name_end = std::strrchr(text, ')');
  int parent = 0;
  return name_end != nullptr && std::sscanf(name_end, ") %*c %d", &parent) == 1
    ? parent
    : 0;
}

std::vector<kinship> all_processes() {
  std::vector<kinship> all;
  auto* directory = ::opendir("/proc");
  if (directory == nullptr)
    return all;
  while (const auto* entry = ::readdir(directory)) {
    const char* name = entry->d_name;
    pid_t pid = 0;
    const auto [end, code]
      = std::from_chars(name, name + std::strlen(name), pid);
    if (code == std::errc{} && *end == '\0')
      if (const auto parent = parent_of(name); parent != 0)
        all.push_back({pid, parent});
  }
  ::closedir(directory);
  return all;
}

/// Those that do not want to be looked at are in here, and nowhere else.
void add_children(std::unordered_set<pid_t>& to) {
  char text[4096];
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  const auto size = ::read(file, text, sizeof text);
  ::close(file);
  const char* at = text;
  const char* end = text + std::max<ssize_t>(size, 0);
  while (at < end) {
    pid_t pid = 0;
    const auto [next, code] = std::from_chars(at, end, pid);
    if (code != std::errc{})
      return;
    to.insert(pid);
    at = next + 1;
  }
}

/// With all that lie below those in it, as far as they can be seen.
void add_families(std::unordered_set<pid_t>& found) {
  const auto all = all_processes();
  for (bool more = true; more;) {
    more = false;
    for (const auto& one : all)
      if (found.contains(one.parent))
        more = found.insert(one.pid).second || more;
  }
}

std::unordered_set<pid_t> descendants() {
  std::unordered_set<pid_t> found{::getpid()};
  add_children(found);
  add_families(found);
  found.erase(::getpid());
  return found;
}

} // namespace

void signal_descendants(pid_t child, int number) noexcept {
  const auto found = descendants();
  for (const auto pid : found)
    ::kill(pid, number);
  if (found.empty()) // a host without a /proc to give
    ::kill(-child, number);
}

void signal_tree(pid_t root, int number) noexcept {
  std::unordered_set<pid_t> told;
  const int rounds = number == SIGKILL ? max_tree_rounds : 1;
  for (int round = 0; round < rounds; ++round) {
    std::unordered_set<pid_t> found{root};
    add_families(found);
    bool more = false;
    for (const auto pid : found)
      if (told.insert(pid).second) {
        ::kill(pid, number);
        more = true;
      }
    if (!more)
      return;
  }
}

int kill_descendants(pid_t child) noexcept {
  int status = SIGKILL;
  for (int round = 0;; ++round) {
    // First looked for, then killed at once: who is at the bound of processes
    // cannot fork until the first have died.
    const auto found = descendants();
    for (const auto pid : found)
      ::kill(pid, SIGKILL);
    if (found.empty())
      ::kill(-child, SIGKILL);
    if (round >= max_rounds)
      ::kill(-1, SIGKILL); // all but pid 1 and the caller
    // At least one that was killed just now is ours to wait for.
    int options = found.empty() ? WNOHANG : 0;
    for (;;) {
      int how = 0;
      const auto pid = ::waitpid(-1, &how, options | __WALL);
      if (pid < 0 && errno == ECHILD)
        return status;
      if (pid <= 0)
        break;
      if (pid == child)
        status = how;
      options = WNOHANG;
    }
  }
}

} // namespace troupe::inside
