#include "runtime/local/warm/process/own_program.hpp"

#include "runtime/local/isolation/program.hpp"
#include "runtime/local/warm/process/file_in_memory.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr const char* link = "/proc/self/exe";
char path[PATH_MAX];

} // namespace

bool let_go_of_own_program() {
  struct stat about {};
  if (geteuid() == 0 || stat(link, &about) != 0 || about.st_uid != geteuid())
    return true;
  const auto size = readlink(link, path, sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  if (size <= 0 || !isolation::can_change_program())
    return false;
  return move_into_memory(about.st_ino, path, "program");
}

const char* own_program() {
  return path;
}

} // namespace troupe::zygote
