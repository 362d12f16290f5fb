// Buys: fork copies every mapping, those with pages of their own with a chain
// of records each, and the end of the child takes it all apart again: some 3 us
// for each. A library is mapped in two parts at least, an interpreter with the
// usual modules has two dozen of them, and a run uses three or four. So their
// neighbourhoods are copied into a file in memory, and that is mapped over
// them, once and privately: one mapping, of which fork copies no page table. A
// run that comes by faults it in again, 64 KiB at a time, and what it writes to
// is its own as before. Libraries that every run uses are better left alone.
//
// Costs the memory of these libraries once more, some 8 MB, and code and data
// in one mapping can be written to as well as executed: in a process that runs
// whatever it is told to, nobody gains by that.
#include "runtime/local/warm/memory/layout_libraries.hpp"

#include "runtime/local/warm/memory/memory_file.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr int most = 256;            // libraries, and neighbourhoods
constexpr int worth_it = 4;          // mappings
constexpr uintptr_t near = 4u << 20; // between two neighbours

struct range {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool has(uintptr_t address) const {
    return begin <= address && address < end;
  }
};

struct libraries {
  std::span<const void* const> kept;
  range all[most];
  int count = 0;

  bool is_kept(range of) const {
    // What is executed by everybody, or is the kernel's.
    for (auto known : {AT_BASE, AT_SYSINFO_EHDR, AT_ENTRY})
      if (of.has(getauxval(known)))
        return true;
    return std::ranges::any_of(kept, [of](const void* address) {
      return of.has(reinterpret_cast<uintptr_t>(address));
    });
  }
  bool have(range part) const {
    return std::any_of(all, all + count, [part](range one) {
      return one.begin <= part.begin && part.end <= one.end;
    });
  }
};

int note_library(dl_phdr_info* about, size_t, void* to) {
  auto& found = *static_cast<libraries*>(to);
  range all{UINTPTR_MAX, 0};
  for (int i = 0; i < about->dlpi_phnum; ++i) {
    const auto& part = about->dlpi_phdr[i];
    if (part.p_type != PT_LOAD)
      continue;
    const auto begin = about->dlpi_addr + part.p_vaddr;
    all.begin = std::min(all.begin, begin & ~(page - 1));
    all.end
      = std::max(all.end, (begin + part.p_memsz + page - 1) & ~(page - 1));
  }
  if (all.begin < all.end && !found.is_kept(all) && found.count < most)
    found.all[found.count++] = all;
  return 0;
}

/// Mappings of libraries behind each other, and nobody else's in between.
struct neighbourhood : range {
  int mappings = 0;
};

struct map {
  neighbourhood all[most];
  int count = 0;

  void add(range next, bool behind_the_last) {
    auto* last = count > 0 ? &all[count - 1] : nullptr;
    if (behind_the_last && last && next.begin - last->end <= near) {
      last->end = next.end;
      ++last->mappings;
    } else if (count < most) {
      all[count++] = {next, 1};
    }
  }
};

void read_map(const libraries& of, map& out) {
  char room[map_room];
  map_reader maps{room};
  bool behind = false;
  for (mapping m; maps.next(m);) {
    const range part{m.begin, m.end};
    const bool good
      = (m.protection & PROT_READ) != 0 && !m.shared && of.have(part);
    if (good)
      out.add(part, behind);
    behind = good;
  }
}

} // namespace

int join_libraries(std::span<const void* const> kept) {
  libraries all{.kept = kept, .all = {}};
  dl_iterate_phdr(note_library, &all);
  map found;
  read_map(all, found);
  int saved = 0;
  for (int i = 0; i < found.count; ++i)
    if (const auto& one = found.all[i]; one.mappings >= worth_it
        && memory_file{"libraries"}.take_over(
          one.begin, one.end, PROT_READ | PROT_WRITE | PROT_EXEC))
      saved += one.mappings - 1;
  return saved;
}

} // namespace troupe::zygote
