// Buys: fork copies an entry, and makes a page table to have in reserve, for
// every huge page of memory, and the child's end gives it back: 1 us each. An
// interpreter that has imported half a gigabyte costs every run a quarter of a
// millisecond more, though a run looks at a few pages of it. Of the private
// mapping of a file fork copies nothing; where the file lies on huge pages, a
// run finds 2 MiB of it with one fault. What is imported first, the interpreter
// and what every tool uses, stays: it is worth having ahead.
#include "runtime/local/warm/memory/cold_memory.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_file.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <stdint.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

constexpr int kept = 16;          // huge pages at the beginning of each piece
constexpr int most_mappings = 64; // that have more than that

struct piece {
  uintptr_t begin = 0; // of its first whole huge page
  uintptr_t end = 0;
};

/// Anonymous, ours alone, and for data.
bool is_data(const mapping& m) {
  return m.is_private(PROT_READ | PROT_WRITE) && m.inode == 0
    && (m.path.empty() || m.path == "[heap]");
}

int find(piece* all) {
  char room[map_room];
  map_reader maps{room};
  int count = 0;
  for (mapping m; count < most_mappings && maps.next(m);) {
    const piece whole{up(m.begin), down(m.end)};
    if (is_data(m) && whole.begin < whole.end
        && (whole.end - whole.begin) / huge > kept)
      all[count++] = whole;
  }
  return count;
}

/// Whether half of it is in memory: the rest would be, afterwards.
bool is_used(const pagemap& pages, uintptr_t begin) {
  uint64_t entries[huge / page];
  return pages.count_present(begin, entries) >= huge / page / 2;
}

/// One huge page at a time, so that it is never there twice.
int put_away(const piece& all, const pagemap& pages) {
  memory_file file{"cold"};
  int seen = 0, moved = 0;
  for (auto at = all.begin; at < all.end; at += huge)
    if (is_used(pages, at) && ++seen > kept) {
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
  const pagemap pages;
  int moved = 0;
  for (int i = 0; i < count; ++i)
    moved += put_away(all[i], pages);
  return moved;
}

} // namespace troupe::zygote
