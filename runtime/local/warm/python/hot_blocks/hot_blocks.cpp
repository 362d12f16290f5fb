// Buys: a run writes to some four hundred blocks of its parent's heap, most of
// them to count a reference, and as good as each of them lies on a page of its
// own: a fault and a copy each. Put side by side they fill a tenth of the
// pages.
//
// A block cannot be moved, but it can be told apart before it is made: by the
// module that is being imported, its size, and how many of that size were asked
// for since. An interpreter that imports the same modules asks for nearly the
// same blocks; where it does not, a block lies where it would have lain anyway.
// Which blocks are written to is found out once, by `write_trace` and
// `learned_blocks`, in a process that does nothing else.
#include "runtime/local/warm/python/hot_blocks/hot_blocks.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"
#include "runtime/local/warm/python/heap/python_memory.hpp"
#include "runtime/local/warm/python/hot_blocks/allocation_ids.hpp"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

namespace troupe::zygote {

namespace {

constexpr size_t grain = 16;

const block_name* expected = nullptr; // sorted, closed by one with number 0
size_t expected_count = 0;
const block_name* next[named_classes]; // of this class and chapter, or any
char* region = nullptr;
size_t used[parts];
uint16_t* sizes = nullptr; // of each block in grains, by its first
int placed = 0;

// -- side by side -------------------------------------------------------------

bool ours(const void* p) {
  return static_cast<size_t>(static_cast<const char*>(p) - region)
    < parts * part_size;
}

size_t grain_of(const void* p) {
  return static_cast<size_t>(static_cast<const char*>(p) - region) / grain;
}

void* put(uint32_t where, size_t size) {
  const auto rounded = (size + grain - 1) / grain * grain;
  if (rounded == 0 || used[where] + rounded > part_size)
    return nullptr;
  auto* p = region + where * part_size + used[where];
  used[where] += rounded;
  sizes[grain_of(p)] = static_cast<uint16_t>(rounded / grain);
  ++placed;
  return p;
}

/// Counts the block; where it is to lie if it is a hot one.
void* place(size_t size) {
  if (size > largest_named)
    return nullptr;
  const auto asked = blocks_asked.add(size);
  const auto& n = *next[asked.size_class];
  if (n.number != asked.number || n.size_class != asked.size_class
      || n.chapter != asked.chapter)
    return nullptr;
  ++next[asked.size_class];
  return put(n.where, size);
}

void* hot_malloc(void* context, size_t size) {
  if (auto* p = place(size))
    return p;
  return pass_malloc(context, size);
}

void* hot_calloc(void* context, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    return nullptr;
  if (auto* p = place(size))
    return memset(p, 0, size);
  return pass_calloc(context, count, each);
}

/// Few of them are ever freed, and those are not missed.
void hot_free(void* context, void* p) {
  if (!ours(p))
    pass_free(context, p);
}

void* hot_realloc(void* context, void* p, size_t size) {
  if (!p)
    return hot_malloc(context, size);
  if (!ours(p))
    return pass_realloc(context, p, size);
  const auto old = sizes[grain_of(p)] * grain;
  if (size <= old)
    return p;
  const auto where = static_cast<uint32_t>(grain_of(p) * grain / part_size);
  auto* q = size <= largest_named ? put(where, size) : nullptr;
  if (!q)
    q = pass_malloc(context, size);
  if (q)
    memcpy(q, p, old);
  return q;
}

void* raw_realloc(void* context, void* p, size_t size) {
  if (!ours(p))
    return pass_realloc(context, p, size);
  auto* q = pass_malloc(context, size); // nobody does that to a lock
  return q ? memcpy(q, p, size < lock_size ? size : lock_size) : nullptr;
}

/// Locks, which every run takes, are all that matters of this domain.
void* hot_lock(void* context, size_t size) {
  return size == lock_size ? hot_malloc(context, size)
                           : pass_malloc(context, size);
}

// -- what is expected ---------------------------------------------------------

/// Into memory that stays, closed by a name that nothing has.
bool expect(const std::vector<block_name>& names) {
  const auto bytes = (names.size() + 1) * sizeof(block_name);
  auto* list = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED)
    return false;
  memcpy(list, names.data(), bytes - sizeof(block_name));
  expected = static_cast<const block_name*>(list);
  expected_count = names.size();
  return true;
}

/// FNV-1a.
uint32_t hash_of(const char* text) {
  uint32_t hash = 2166136261u;
  for (; *text != 0; ++text)
    hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  return hash;
}

void begin_chapter(uint32_t which) {
  blocks_asked.begin(which);
  if (!expected)
    return;
  const auto* end = expected + expected_count;
  auto* n = std::lower_bound(expected, end, block_name{which, 0, 0, 0});
  for (unsigned index = 0; index < named_classes; ++index) {
    while (n != end && n->chapter == which && n->size_class < index)
      ++n;
    next[index] = n;
  }
}

} // namespace

bool place_hot_blocks(const char* profile) {
  const auto names = read_names(profile);
  if (names.empty() || !expect(names))
    return false;
  constexpr auto space = parts * part_size;
  auto* p = mmap(nullptr, huge + space + space / grain * sizeof *sizes,
                 PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return false;
  region = reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(p)));
  sizes = reinterpret_cast<uint16_t*>(region + space);
  begin_chapter(0);
  return wrap_python_memory(
    {nullptr, hot_malloc, hot_calloc, hot_realloc, hot_free},
    {nullptr, hot_lock, pass_calloc, raw_realloc, hot_free});
}

void next_chapter(const char* title) {
  begin_chapter(hash_of(title));
}

/// As `gather_into_huge_pages`, where they are: every run would split the huge
/// page, so it is split now, and what it has left over given back.
void gather_hot_blocks() {
  const auto begin = reinterpret_cast<uintptr_t>(region);
  if (!region || collapse(begin, begin + huge) == 0)
    return;
  mprotect(region, page, PROT_READ);
  mprotect(region, page, PROT_READ | PROT_WRITE);
  for (size_t where = 0; where < parts; ++where) {
    const auto end = (used[where] + page - 1) / page * page;
    madvise(region + where * part_size + end, part_size - end, MADV_DONTNEED);
  }
}

void finalize_lock_allocator() {
  const auto set = find_python_allocator("PyMem_SetAllocator");
  auto& raw = wrapped_python[raw_domain];
  if (!region || !set || !raw.malloc)
    return;
  python_allocator plain{&raw, pass_malloc, pass_calloc, raw_realloc, hot_free};
  set(raw_domain, &plain);
}

int hot_blocks_placed() {
  return placed;
}

} // namespace troupe::zygote
