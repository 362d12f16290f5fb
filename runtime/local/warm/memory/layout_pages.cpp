// Buys: fork copies an entry for every small page of its own that a process
// has, the end of the child drops it again, and each time the kernel looks at
// its record of that page, which may lie anywhere: 0.15 us a page. Neighbours
// within the memory of one huge page are counted together, for a third of that.
// It is no matter where they are seen: a library's data, or V8's heap, which
// lies in 256 KiB pieces all over the address space. Such mappings are copied
// into huge pages, one behind the other, and moved back to where they were.
// Costs no memory but what the last huge page has left over. Where there is no
// huge page to be had, small ones take the place of small ones.
#include "runtime/local/warm/memory/layout_pages.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

// Smaller ones gain nothing. Larger ones are somebody's reserve, or heaps that
// lie on huge pages already.
constexpr uintptr_t smallest = 16 * page;
constexpr uintptr_t largest = 16u << 20;
constexpr int most_mappings = 512;

struct piece {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = 0;

  uintptr_t size() const { return end - begin; }
};

/// Private and writable; but the heap, which has a trick of its own, and the
/// stack, which is in use.
bool is_wanted(const mapping& m) {
  constexpr int both = PROT_READ | PROT_WRITE;
  return (m.protection & both) == both && !m.shared && !m.path.starts_with('[')
    && smallest <= m.size() && m.size() <= largest;
}

/// In memory that is nobody's: a stack or data that grew by it would be copied
/// by every fork.
struct workplace {
  piece found[most_mappings];
  int count;
  uintptr_t size; // of all that were found
  uint64_t entries[largest / page];
};

/// Whether half of it is in memory: the rest would be, afterwards.
bool is_dense(workplace& at, const pagemap& pages, const mapping& m) {
  const auto count = m.size() / page;
  return pages.count_present(m.begin, {at.entries, count}) >= count / 2;
}

void find(workplace& at) {
  const pagemap pages;
  char room[map_room];
  map_reader maps{room};
  for (mapping m; at.count < most_mappings && maps.next(m);)
    if (is_wanted(m) && is_dense(at, pages, m)) {
      at.found[at.count++] = {m.begin, m.end, m.protection};
      at.size += m.size();
    }
}

void* allocate(uintptr_t size) {
  auto* p = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

/// The copy of it that lies at `to` takes its place.
bool move_back(const piece& m, char* to) {
  memcpy(to, reinterpret_cast<void*>(m.begin), m.size());
  return mprotect(to, m.size(), m.protection) == 0
    && mremap(to, m.size(), m.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
              reinterpret_cast<void*>(m.begin))
    != MAP_FAILED;
}

} // namespace

int gather_pages() {
  auto* at = static_cast<workplace*>(allocate(sizeof(workplace)));
  if (!at)
    return 0;
  find(*at);
  const auto room = up(at->size) + huge;
  auto* space = allocate(room);
  int moved = 0;
  if (space) {
    madvise(space, room, MADV_HUGEPAGE);
    auto* to = reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(space)));
    for (int i = 0; i < at->count; to += at->found[i++].size())
      moved += move_back(at->found[i], to) ? 1 : 0;
    munmap(space, room); // what nobody has moved out of
  }
  munmap(at, sizeof *at);
  return moved;
}

} // namespace troupe::zygote
