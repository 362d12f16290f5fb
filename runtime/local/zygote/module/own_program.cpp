#include "runtime/local/zygote/module/own_program.hpp"

#include "runtime/local/isolation/program.hpp"
#include "runtime/local/zygote/module/maps.hpp"
#include "runtime/local/zygote/module/memory_file.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr const char* link = "/proc/self/exe";
char path[PATH_MAX];

struct part {
  uintptr_t begin, end;
  int protection;
};

struct part_list {
  static constexpr int most = 64;
  part all[most];
  int count = 0;
  bool complete = true;
};

/// What is mapped of the file: a list first, since taking over changes the map.
part_list parts_of(const struct stat& file) {
  part_list found;
  char room[map_room];
  map_reader maps{room};
  for (mapping m; maps.next(m);) {
    if (m.inode != file.st_ino || m.path != path)
      continue;
    if (m.shared || found.count == part_list::most)
      found.complete = false;
    else
      found.all[found.count++] = {m.begin, m.end, m.protection};
  }
  found.complete = found.complete && !maps.failed();
  return found;
}

} // namespace

bool let_go_of_own_program() {
  struct stat about {};
  if (geteuid() == 0 || stat(link, &about) != 0 || about.st_uid != geteuid())
    return true;
  const auto size = readlink(link, path, sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  if (size <= 0 || !isolation::can_change_program())
    return false;
  const auto parts = parts_of(about);
  bool good = parts.complete;
  for (int i = 0; i < parts.count && good; ++i)
    good = memory_file{"program"}.take_over(
      parts.all[i].begin, parts.all[i].end, parts.all[i].protection);
  return good;
}

const char* own_program() {
  return path;
}

} // namespace troupe::zygote
