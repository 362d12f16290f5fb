// The kernel shows what lies where it once put the words of execve: the paths
// of the host that an interpreter was started with would stand in every run's
// /proc/self/cmdline and environ.
#include "runtime/local/warm/process/start_strings.hpp"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

struct start_area {
  uintptr_t begin = 0; // of the arguments ...
  uintptr_t middle = 0;
  uintptr_t variables = 0; // ... and of the variables
  uintptr_t end = 0;
};

/// The four last but one numbers of a line that begins with a name in brackets.
bool find_area(start_area& out) {
  char text[2048];
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const auto size = file < 0 ? 0 : read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  const char* at = strrchr(text, ')');
  constexpr int arguments_begin = 48; // as proc_pid_stat(5) counts them
  for (int field = 2; at && field < arguments_begin; ++field)
    if ((at = strchr(at, ' ')) != nullptr)
      ++at;
  if (!at)
    return false;
  char* next = nullptr;
  for (auto* value : {&out.begin, &out.middle, &out.variables, &out.end}) {
    *value = strtoul(at, &next, 10);
    at = next;
  }
  return out.begin != 0 && out.begin < out.middle && out.middle <= out.variables
    && out.variables <= out.end;
}

/// Those that still lie there would be gone.
bool move_variables(const start_area& area) {
  for (auto** one = environ; one && *one; ++one) {
    const auto at = reinterpret_cast<uintptr_t>(*one);
    if (at < area.variables || at >= area.end)
      continue;
    auto* copy = strdup(*one);
    if (!copy)
      return false;
    *one = copy;
  }
  return true;
}

} // namespace

void show_start_as(std::string_view arguments) {
  start_area area;
  if (!find_area(area) || !move_variables(area))
    return;
  auto* at = reinterpret_cast<char*>(area.begin);
  auto* end = reinterpret_cast<char*>(area.middle);
  const auto size = std::min(arguments.size(), static_cast<size_t>(end - at));
  memcpy(at, arguments.data(), size);
  memset(at + size, 0, static_cast<size_t>(end - at) - size);
  memset(reinterpret_cast<void*>(area.variables), 0, area.end - area.variables);
}

} // namespace troupe::zygote
