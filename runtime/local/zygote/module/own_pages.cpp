#include "runtime/local/zygote/module/own_pages.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr uintptr_t page_size = 4096;

// As Documentation/admin-guide/mm/pagemap.rst numbers them.
constexpr uint64_t present = 1ull << 63;
constexpr uint64_t of_a_file = 1ull << 61;
constexpr uint64_t mapped_once = 1ull << 56;

bool read_maps(page_scratch& with) {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  size_t size = 0;
  ssize_t got;
  while ((got = read(file, with.maps + size, sizeof with.maps - 1 - size)) > 0)
    size += static_cast<size_t>(got);
  close(file);
  with.maps[size] = 0;
  return got == 0; // all of them, or none
}

constexpr size_t chunk = sizeof page_scratch::entries
  / sizeof *page_scratch::entries; // of pages, read at a time

/// Reads up to a chunk of entries; returns how many, 0 if none can be read.
size_t read_entries(int pagemap, uintptr_t at, uintptr_t end,
                    page_scratch& with) {
  const auto wanted = std::min<size_t>((end - at) / page_size, chunk);
  const auto got
    = pread(pagemap, with.entries, wanted * sizeof *with.entries,
            static_cast<off_t>(at / page_size * sizeof *with.entries));
  return got <= 0 ? 0 : static_cast<size_t>(got) / sizeof *with.entries;
}

bool has_pages(int pagemap, uintptr_t at, uintptr_t end, page_scratch& with) {
  const auto count = read_entries(pagemap, at, end, with);
  return std::any_of(with.entries, with.entries + count,
                     [](uint64_t entry) { return (entry & present) != 0; });
}

bool add_range(int pagemap, uintptr_t begin, uintptr_t end, page_list& out,
               page_scratch& with) {
  for (auto at = begin; at < end;) {
    const auto count = read_entries(pagemap, at, end, with);
    if (count == 0)
      return false;
    for (size_t i = 0; i < count; ++i) {
      const auto entry = with.entries[i];
      if ((entry & present) == 0 || (entry & of_a_file) != 0
          || (entry & mapped_once) == 0)
        continue;
      if (out.count == out.most)
        return false;
      out.page[out.count++] = at + i * page_size;
    }
    at += count * page_size;
  }
  return true;
}

/// A gigabyte of addresses that is somebody's reserve is used from its ends;
/// asking about all of it would take milliseconds.
bool add_mapping(int pagemap, uintptr_t begin, uintptr_t end, page_list& out,
                 page_scratch& with) {
  constexpr auto step = chunk * page_size;
  auto front = begin, back = end;
  while (front < end && has_pages(pagemap, front, end, with))
    front = std::min(front + step, end);
  while (back > front
         && has_pages(pagemap, std::max(front, back - std::min(back, step)),
                      back, with))
    back = std::max(front, back - std::min(back, step));
  return add_range(pagemap, begin, front, out, with)
    && add_range(pagemap, back, end, out, with);
}

} // namespace

bool list_own_pages(page_list& out, page_scratch& with) {
  out.count = 0;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  bool good = pagemap >= 0 && read_maps(with);
  for (const char* line = with.maps; good && *line != 0;) {
    unsigned long begin, end;
    char mode[5];
    good = sscanf(line, "%lx-%lx %4s", &begin, &end, mode) == 3;
    if (good && mode[1] == 'w' && mode[3] == 'p')
      good = add_mapping(pagemap, begin, end, out, with);
    const char* next = strchr(line, '\n');
    line = next ? next + 1 : "";
  }
  if (pagemap >= 0)
    close(pagemap);
  return good;
}

} // namespace troupe::zygote
