#include "runtime/local/warm/process/file_in_memory.hpp"

#include "runtime/local/warm/memory/memory_file.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"

namespace troupe::zygote {

namespace {

struct part {
  uintptr_t begin, end;
  int protection;
};

} // namespace

bool move_into_memory(uint64_t inode, std::string_view path_end,
                      const char* name) {
  constexpr int most = 64;
  part all[most]; // a list first, since taking over changes the map
  int count = 0;
  bool good = true;
  char room[map_room];
  map_reader maps{room};
  for (mapping m; maps.next(m);) {
    if (m.inode != inode || !m.path.ends_with(path_end))
      continue;
    if (m.shared || count == most)
      good = false;
    else
      all[count++] = {m.begin, m.end, m.protection};
  }
  good = good && !maps.failed();
  for (int i = 0; i < count && good; ++i)
    good = memory_file{name}.take_over(all[i].begin, all[i].end,
                                       all[i].protection);
  return good;
}

} // namespace troupe::zygote
