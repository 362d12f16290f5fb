#include "runtime/local/isolation/program.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace troupe::isolation {

namespace {

/// The numbers of /proc/self/stat behind the name, as proc_pid_stat(5) counts.
class process_status {
public:
  process_status() noexcept {
    char text[2048];
    const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const auto size = file < 0 ? 0 : ::read(file, text, sizeof text - 1);
    ::close(file);
    text[size > 0 ? size : 0] = 0;
    char* at = std::strrchr(text, ')');
    if (!at || at[1] == 0)
      return;
    at += std::strlen(") S"); // the first is a letter
    for (count_ = first; count_ < static_cast<int>(std::size(fields_));
         ++count_)
      fields_[count_] = std::strtoull(at, &at, 10);
  }
  std::uint64_t operator[](int field) const noexcept { return fields_[field]; }

private:
  static constexpr int first = 4;
  std::uint64_t fields_[53] = {};
  int count_ = 0;
};

/// All that there is to be said about a process's memory, as it is.
prctl_mm_map memory_as_it_is() noexcept {
  const process_status now;
  prctl_mm_map map{};
  map.start_code = now[26];
  map.end_code = now[27];
  map.start_stack = now[28];
  map.start_data = now[45];
  map.end_data = now[46];
  map.start_brk = now[47];
  map.arg_start = now[48];
  map.arg_end = now[49];
  map.env_start = now[50];
  map.env_end = now[51];
  map.brk = static_cast<std::uint64_t>(::syscall(SYS_brk, 0));
  return map;
}

bool is_same_file(int a, const char* b) noexcept {
  struct stat one {
  }, other{};
  return ::fstat(a, &one) == 0 && ::stat(b, &other) == 0
    && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

} // namespace

bool can_change_program() noexcept {
  unsigned size = 0;
  return ::prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) == 0
    && size == sizeof(prctl_mm_map);
}

outcome change_program(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return failed(step::tree);
  auto done = outcome{};
  auto map = memory_as_it_is();
  map.exe_fd = static_cast<std::uint32_t>(file);
  if (!is_same_file(file, "/proc/self/exe"))
    done = {step::tree, ESTALE};
  else if (::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) != 0)
    done = failed(step::tree);
  ::close(file);
  return done;
}

} // namespace troupe::isolation
