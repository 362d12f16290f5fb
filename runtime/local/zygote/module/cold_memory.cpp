// Buys: fork copies an entry, and makes a page table to have in reserve, for
// every huge page of memory, and the child's end gives it back: 1 us each. An
// interpreter that has imported half a gigabyte costs every run a quarter of a
// millisecond more, though a run looks at a few pages of it. Of the private
// mapping of a file fork copies nothing; where the file lies on huge pages, a
// run finds 2 MiB of it with one fault. What is imported first, the interpreter
// and what every tool uses, stays: it is worth having ahead.
#include "runtime/local/zygote/module/cold_memory.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"
#include "runtime/local/zygote/module/memory_file.hpp"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr uintptr_t page = 4096;
constexpr int kept = 16;          // huge pages at the beginning of each piece
constexpr int most_mappings = 64; // that have more than that

struct piece {
  uintptr_t begin = 0; // of its first whole huge page
  uintptr_t end = 0;
};

/// Anonymous, ours alone, and for data.
bool parse(const char* line, piece& out) {
  unsigned long begin, end, inode;
  char mode[5], name[16] = "";
  if (sscanf(line, "%lx-%lx %4s %*s %*s %lu %15s", &begin, &end, mode, &inode,
             name)
      < 4)
    return false;
  out = {up(begin), down(end)};
  return strcmp(mode, "rw-p") == 0 && inode == 0
    && (name[0] == 0 || strcmp(name, "[heap]") == 0) && out.begin < out.end
    && (out.end - out.begin) / huge > kept;
}

int find(piece* all) {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  char line[4096];
  int count = 0;
  while (count < most_mappings && fgets(line, sizeof line, maps))
    count += parse(line, all[count]) ? 1 : 0;
  fclose(maps);
  return count;
}

/// Whether half of it is in memory: the rest would be, afterwards.
bool is_used(int pagemap, uintptr_t begin) {
  uint64_t entries[huge / page];
  const auto at = static_cast<off_t>(begin / page * sizeof *entries);
  if (pread(pagemap, entries, sizeof entries, at) != sizeof entries)
    return false;
  unsigned present = 0;
  for (auto entry : entries)
    present += static_cast<unsigned>(entry >> 63);
  return present >= huge / page / 2;
}

/// One huge page at a time, so that it is never there twice.
int put_away(const piece& all, int pagemap) {
  memory_file file{"cold"};
  int seen = 0, moved = 0;
  for (auto at = all.begin; at < all.end; at += huge)
    if (is_used(pagemap, at) && ++seen > kept) {
      if (!file.take_over(at, at + huge, PROT_READ | PROT_WRITE))
        break;
      collapse(at, at + huge);
      ++moved;
    }
  return moved;
}

} // namespace

int put_away_cold_memory() {
  piece all[most_mappings];
  const int count = find(all);
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  int moved = 0;
  for (int i = 0; pagemap >= 0 && i < count; ++i)
    moved += put_away(all[i], pagemap);
  if (pagemap >= 0)
    close(pagemap);
  return moved;
}

} // namespace troupe::zygote
