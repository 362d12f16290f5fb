// One decision for each mapping: of a library that every run uses, code and
// constants go onto huge pages; all of another library is
// joined with its neighbours; other data that was written to is gathered.
#include "runtime/local/warm/memory/memory_layout.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/layout_moves.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr int most_mappings = 4096;
constexpr int most_libraries = 256;

// Of a huge page that many small ones have to be in use: it costs 2 MiB.
constexpr size_t worth_a_huge_page = huge / page / 8;
constexpr int worth_joining = 4;                // mappings
constexpr uintptr_t near_each_other = 4u << 20; // libraries
// Smaller ones gain nothing by being gathered. Larger ones are a reserve, or
// heaps that lie on huge pages already.
constexpr uintptr_t least_gathered = 16 * page;
constexpr uintptr_t most_gathered = 16u << 20;

enum class decision : uint8_t { leave, join, gather };

struct part : memory_part {
  bool is_private = false;
  bool has_name = false; // of a file, or one like [heap]
  bool is_special = false;
  uint64_t offset = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  decision what = decision::leave;

  bool has(uintptr_t address) const {
    return begin <= address && address < end;
  }
  bool is_of_same_file(const part& other) const {
    return inode == other.inode && device == other.device;
  }
  /// Of one protection both would be one mapping.
  bool continues(const part& before) const {
    return is_of_same_file(before) && begin == before.end && is_private
      && before.is_private && offset == before.offset + before.size();
  }
  bool is_data() const { return protection == (PROT_READ | PROT_WRITE); }
  bool is_constant() const {
    return has_name && (protection & (PROT_READ | PROT_WRITE)) == PROT_READ;
  }
};

/// In memory of its own: a stack or data that grew by it would be copied by
/// every fork.
struct workplace {
  part all[most_mappings];
  int count;
  address_range libraries[most_libraries]; // that not every run uses
  int library_count;
  memory_part list[most_mappings]; // for those who take one
  uint64_t entries[most_gathered / page];

  std::span<part> parts() { return {all, static_cast<size_t>(count)}; }
};

void read_map(workplace& at) {
  char room[map_room];
  map_reader maps{room};
  for (mapping m; at.count < most_mappings && maps.next(m);) {
    auto& p = at.all[at.count++];
    p.begin = m.begin;
    p.end = m.end;
    p.protection = m.protection;
    p.is_private = !m.shared;
    p.has_name = !m.path.empty();
    p.is_special = m.path.starts_with('[');
    p.offset = m.offset;
    p.device = m.device;
    p.inode = m.inode;
  }
}

// -- libraries that every run uses --------------------------------------------

/// From the first to the last mapping of the file around that address. What is
/// anonymous in between is code that lies on huge pages already.
std::span<part> find_image(workplace& at, const void* inside) {
  const auto address = reinterpret_cast<uintptr_t>(inside);
  const auto all = at.parts();
  auto own = std::ranges::find_if(
    all, [address](const part& p) { return p.has(address); });
  const auto hit = own;
  while (own != all.end() && !own->has_name && own != all.begin())
    --own;
  while (own != all.end() && !own->has_name)
    ++own;
  if (own == all.end() || own->is_special)
    return {};
  auto first = own, last = own;
  for (auto i = own;; --i) {
    if (i->has_name && !i->is_of_same_file(*own))
      break;
    if (i->has_name)
      first = i;
    if (i == all.begin())
      break;
  }
  for (auto i = own; i != all.end(); ++i) {
    if (i->has_name && !i->is_of_same_file(*own))
      break;
    if (i->has_name)
      last = i;
  }
  return hit > last ? std::span<part>{} : std::span{first, last + 1};
}

/// Five mappings of a library become two: code with the constants around it,
/// and data with what the loader has made read-only before it. Each costs fork
/// and the child's end 0.7 us, whether or not it has pages.
void merge_neighbours(std::span<part> image) {
  const auto protect = [](part& p, int mode) {
    if (p.protection != mode
        && mprotect(reinterpret_cast<void*>(p.begin), p.size(), mode) == 0)
      p.protection = mode;
  };
  for (size_t i = 1; i < image.size(); ++i)
    if (image[i].is_data() && image[i - 1].protection == PROT_READ
        && image[i].continues(image[i - 1]))
      protect(image[i - 1], PROT_READ | PROT_WRITE);
  for (size_t i = 1; i < image.size(); ++i) {
    auto &one = image[i - 1], &next = image[i];
    if (!next.continues(one) || !one.is_constant() || !next.is_constant())
      continue;
    const int both = one.protection | next.protection;
    protect(one, both);
    protect(next, both);
  }
}

/// What these 2 MiB are for if all of it is constant, else 0.
int protection_of(std::span<const part> image, uintptr_t begin) {
  int protection = PROT_READ;
  for (const auto& p : image)
    if (p.end > begin && p.begin < begin + huge) {
      if (!p.is_constant())
        return 0;
      protection |= p.protection;
    }
  return protection;
}

/// As many as lie behind each other at a time: they are one mapping then.
int move_image(workplace& at, std::span<const part> image) {
  const pagemap pages;
  int made = 0;
  std::ranges::copy(image, at.list);
  const auto last = down(image.back().end);
  for (auto begin = up(image.front().begin), end = begin; begin < last;
       begin = end + huge) {
    int protection = 0;
    for (end = begin; end < last
         && pages.count_present(end, {at.entries, huge / page})
           >= worth_a_huge_page;
         end += huge) {
      const int one = protection_of(image, end);
      if (one == 0)
        break;
      protection |= one;
    }
    if (end != begin
        && move_to_huge_pages({at.list, image.size()},
                              {{begin, end}, protection}))
      made += static_cast<int>((end - begin) / huge);
  }
  return made;
}

// -- all others ---------------------------------------------------------------

struct search {
  workplace& at;
  std::span<const void* const> used;

  bool is_used(address_range library) const {
    const auto has = [library](uintptr_t address) {
      return library.begin <= address && address < library.end;
    };
    // What is executed by everything, or is the kernel's.
    for (auto known : {AT_BASE, AT_SYSINFO_EHDR, AT_ENTRY})
      if (has(getauxval(known)))
        return true;
    return std::ranges::any_of(used, [&](const void* address) {
      return has(reinterpret_cast<uintptr_t>(address));
    });
  }
};

int note_library(dl_phdr_info* about, size_t, void* to) {
  auto& found = *static_cast<search*>(to);
  address_range all{UINTPTR_MAX, 0};
  for (int i = 0; i < about->dlpi_phnum; ++i) {
    const auto& segment = about->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    const auto begin = about->dlpi_addr + segment.p_vaddr;
    all.begin = std::min(all.begin, begin & ~(page - 1));
    all.end
      = std::max(all.end, (begin + segment.p_memsz + page - 1) & ~(page - 1));
  }
  auto& at = found.at;
  if (all.begin < all.end && !found.is_used(all)
      && at.library_count < most_libraries)
    at.libraries[at.library_count++] = all;
  return 0;
}

bool is_of_library(const workplace& at, const part& p) {
  return p.is_private && (p.protection & PROT_READ) != 0
    && std::any_of(at.libraries, at.libraries + at.library_count,
                   [&p](const address_range& one) {
                     return one.begin <= p.begin && p.end <= one.end;
                   });
}

/// Libraries that lie behind each other, with nothing else in between.
void join_neighbours(workplace& at) {
  const auto all = at.parts();
  for (auto first = all.begin(); first != all.end();) {
    auto last = first;
    while (
      last != all.end() && is_of_library(at, *last)
      && (last == first || last->begin - (last - 1)->end <= near_each_other))
      ++last;
    if (last - first >= worth_joining
        && join_into_file({first->begin, (last - 1)->end}))
      for (auto i = first; i != last; ++i)
        i->what = decision::join;
    first = last == first ? first + 1 : last;
  }
}

/// Whether half of it is in memory: the rest would be, afterwards.
bool is_dense(workplace& at, const pagemap& pages, const part& p) {
  const auto count = p.size() / page;
  return pages.count_present(p.begin, {at.entries, count}) >= count / 2;
}

/// Private and writable; but the heap, which has huge pages of its own, and the
/// stack, which is in use.
void gather_written(workplace& at) {
  const pagemap pages;
  constexpr int both = PROT_READ | PROT_WRITE;
  size_t count = 0;
  for (auto& p : at.parts())
    if (p.what == decision::leave && p.is_private && !p.is_special
        && (p.protection & both) == both && least_gathered <= p.size()
        && p.size() <= most_gathered && is_dense(at, pages, p)) {
      p.what = decision::gather;
      at.list[count++] = p;
    }
  gather_into_huge_pages({at.list, count});
}

} // namespace

int lay_out_memory(const memory_layout& wanted) {
  auto* space = mmap(nullptr, sizeof(workplace), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED)
    return 0;
  auto& at = *static_cast<workplace*>(space);
  read_map(at);
  int huge_pages = 0;
  for (const auto* inside : wanted.used) {
    const auto image = find_image(at, inside);
    if (wanted.joined_libraries)
      merge_neighbours(image);
    if (wanted.huge_text && !image.empty())
      huge_pages += move_image(at, image);
  }
  if (wanted.joined_libraries) {
    search others{at, wanted.used};
    dl_iterate_phdr(note_library, &others);
    join_neighbours(at);
  }
  if (wanted.gathered_pages)
    gather_written(at);
  munmap(space, sizeof(workplace));
  return huge_pages;
}

} // namespace troupe::zygote
