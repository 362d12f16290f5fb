// Buys: a run writes to some four hundred blocks of its parent's heap, most of
// them to count a reference, and as good as each of them lies on a page of its
// own: a fault and a copy each. Put side by side they fill a tenth of the
// pages.
//
// A block cannot be moved, but it can be told apart before it is made: by the
// module that is being imported, its size, and how many of that size were asked
// for since. An interpreter that imports the same modules asks for nearly the
// same blocks; where it does not, a block lies where it would have lain anyway.
// Which blocks are written to is found out once, by `write_trace`, in a process
// that does nothing else.
#include "runtime/local/zygote/module/hot_blocks.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"
#include "runtime/local/zygote/module/python_memory.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace troupe::zygote {

namespace {

/// What every run writes to lies apart from what only some write to.
enum part : uint32_t { everywhere, somewhere, parts };

/// A line of a profile: the `number`th block of its size class in its chapter.
struct name {
  uint32_t chapter;
  uint32_t size_class;
  uint32_t number; // from 1
  uint32_t where;  // of `part`

  bool operator<(const name& other) const {
    return std::tie(chapter, size_class, number)
      < std::tie(other.chapter, other.size_class, other.number);
  }
};

struct header {
  char magic[8];
  uint64_t names;
};
constexpr char magic[8] = {'t', 'r', 'p', 'h', 'o', 't', '0', '3'};

constexpr size_t part_size = huge / parts; // one page table for all
constexpr size_t grain = 16;
constexpr uint64_t most_names = 20'000;

// The largest that every run writes to are the slots of the dictionary of all
// interned strings: in the middle of a huge page of the heap they would split
// it, in every child once more.
constexpr size_t largest_named = part_size / 2;
constexpr unsigned named_classes = class_of_size(largest_named) + 1;

python_allocator inner[3]; // by domain
uint32_t chapter = 0;
uint32_t asked[named_classes];  // blocks so far in this chapter
const name* expected = nullptr; // sorted, closed by a name with number 0
size_t expected_count = 0;
const name* next[named_classes]; // the one of this class and chapter, or any
char* region = nullptr;
size_t used[parts];
uint16_t* sizes = nullptr; // of each block in grains, by its first
int placed = 0;

// -- side by side ------------------------------------------------------------

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
  const auto index = class_of_size(size);
  const auto number = ++asked[index];
  const auto& n = *next[index];
  if (n.number != number || n.size_class != index || n.chapter != chapter)
    return nullptr;
  ++next[index];
  return put(n.where, size);
}

void* hot_malloc(void* context, size_t size) {
  if (auto* p = place(size))
    return p;
  auto& to = *static_cast<python_allocator*>(context);
  return to.malloc(to.context, size);
}

void* hot_calloc(void* context, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    return nullptr;
  if (auto* p = place(size))
    return memset(p, 0, size);
  auto& to = *static_cast<python_allocator*>(context);
  return to.calloc(to.context, count, each);
}

/// Few of them are ever freed, and those are not missed.
void hot_free(void* context, void* p) {
  if (ours(p))
    return;
  auto& to = *static_cast<python_allocator*>(context);
  to.free(to.context, p);
}

void* hot_realloc(void* context, void* p, size_t size) {
  if (!p)
    return hot_malloc(context, size);
  auto& to = *static_cast<python_allocator*>(context);
  if (!ours(p))
    return to.realloc(to.context, p, size);
  const auto old = sizes[grain_of(p)] * grain;
  if (size <= old)
    return p;
  const auto where = static_cast<uint32_t>(grain_of(p) * grain / part_size);
  auto* q = size <= largest_named ? put(where, size) : nullptr;
  if (!q)
    q = to.malloc(to.context, size);
  if (q)
    memcpy(q, p, old);
  return q;
}

void* raw_malloc(void* context, size_t size) {
  auto& to = *static_cast<python_allocator*>(context);
  return to.malloc(to.context, size);
}

void* raw_calloc(void* context, size_t count, size_t each) {
  auto& to = *static_cast<python_allocator*>(context);
  return to.calloc(to.context, count, each);
}

void* raw_realloc(void* context, void* p, size_t size) {
  auto& to = *static_cast<python_allocator*>(context);
  if (!region || !ours(p))
    return to.realloc(to.context, p, size);
  auto* q = to.malloc(to.context, size); // nobody does that to a lock
  return q ? memcpy(q, p, size < lock_size ? size : lock_size) : nullptr;
}

/// Locks, which every run takes, are all that matters of this domain.
void* hot_lock(void* context, size_t size) {
  return size == lock_size ? hot_malloc(context, size)
                           : raw_malloc(context, size);
}

// -- finding out -------------------------------------------------------------

struct known {
  name what;
  size_t size;
};
using blocks = std::map<uintptr_t, known>;
blocks* alive = nullptr;

void remember(void* p, name what, size_t size) {
  if (p)
    (*alive)[reinterpret_cast<uintptr_t>(p)] = {what, size};
}

void* remember_new(void* p, size_t size) {
  if (size > largest_named)
    return p;
  const auto index = class_of_size(size);
  remember(p, {chapter, index, ++asked[index], somewhere}, size);
  return p;
}

void* learning_malloc(void* context, size_t size) {
  auto& to = *static_cast<python_allocator*>(context);
  return remember_new(to.malloc(to.context, size), size);
}

void* learning_lock(void* context, size_t size) {
  return size == lock_size ? learning_malloc(context, size)
                           : raw_malloc(context, size);
}

void* learning_calloc(void* context, size_t count, size_t each) {
  auto& to = *static_cast<python_allocator*>(context);
  return remember_new(to.calloc(to.context, count, each), count * each);
}

void learning_free(void* context, void* p) {
  alive->erase(reinterpret_cast<uintptr_t>(p));
  auto& to = *static_cast<python_allocator*>(context);
  to.free(to.context, p);
}

/// It keeps its name wherever it moves.
void* learning_realloc(void* context, void* p, size_t size) {
  if (!p)
    return learning_malloc(context, size);
  auto& to = *static_cast<python_allocator*>(context);
  const auto node = alive->extract(reinterpret_cast<uintptr_t>(p));
  auto* q = to.realloc(to.context, p, size);
  if (node)
    remember(q ? q : p, node.mapped().what, q ? size : node.mapped().size);
  return q;
}

// -- both --------------------------------------------------------------------

using lock_allocator = void* (*)(void*, size_t);

bool wrap(python_allocator with, lock_allocator lock) {
  const auto get = find_python_allocator("PyMem_GetAllocator");
  const auto set = find_python_allocator("PyMem_SetAllocator");
  if (!get || !set)
    return false;
  for (int domain : {mem_domain, object_domain}) {
    get(domain, &inner[domain]);
    with.context = &inner[domain];
    set(domain, &with);
  }
  auto& raw = inner[raw_domain];
  get(raw_domain, &raw);
  with = {&raw, lock, raw_calloc, raw_realloc, with.free};
  set(raw_domain, &with);
  return true;
}

/// As they will be asked for. Empty: no good profile.
std::vector<name> read_names(const char* path) {
  std::vector<name> names;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return names;
  header head{};
  if (read(file, &head, sizeof head) == sizeof head
      && memcmp(head.magic, magic, sizeof magic) == 0
      && head.names <= most_names) {
    names.resize(head.names);
    const auto bytes = names.size() * sizeof(name);
    if (read(file, names.data(), bytes) != static_cast<ssize_t>(bytes))
      names.clear();
  }
  close(file);
  std::erase_if(names, [](const name& n) {
    return n.size_class >= named_classes || n.where >= parts || n.number == 0;
  });
  std::sort(names.begin(), names.end());
  return names;
}

/// Into memory that stays, closed by a name that nothing has.
bool expect(const std::vector<name>& names) {
  const auto bytes = (names.size() + 1) * sizeof(name);
  auto* list = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED)
    return false;
  memcpy(list, names.data(), bytes - sizeof(name));
  expected = static_cast<const name*>(list);
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
  chapter = which;
  memset(asked, 0, sizeof asked);
  if (!expected)
    return;
  const auto* end = expected + expected_count;
  auto* n = std::lower_bound(expected, end, name{which, 0, 0, 0});
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
  return wrap({nullptr, hot_malloc, hot_calloc, hot_realloc, hot_free},
              hot_lock);
}

void next_chapter(const char* title) {
  begin_chapter(hash_of(title));
}

bool remember_blocks() {
  alive = new blocks;
  return wrap({nullptr, learning_malloc, learning_calloc, learning_realloc,
               learning_free},
              learning_lock);
}

int write_profile(const char* path, const written_address* written,
                  size_t count) {
  std::map<uintptr_t, name> hot; // by address, so that neighbours stay so
  for (size_t i = 0; alive && i < count; ++i) {
    auto at = alive->upper_bound(written[i].address);
    if (at == alive->begin())
      continue;
    --at;
    if (written[i].address >= at->first + at->second.size)
      continue;
    auto& n = hot.emplace(at->first, at->second.what).first->second;
    // A large one would take the room of all others in the other part.
    if (written[i].everywhere || at->second.size > largest_classed)
      n.where = everywhere;
  }
  header head{};
  memcpy(head.magic, magic, sizeof magic);
  std::vector<name> names;
  for (const auto& [address, what] : hot)
    if (names.size() < most_names)
      names.push_back(what);
  head.names = names.size();
  // Whoever reads it finds all of it or nothing.
  char draft[4096];
  snprintf(draft, sizeof draft, "%s.%d", path, getpid());
  const int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto bytes = names.size() * sizeof(name);
  const bool good = write(file, &head, sizeof head) == sizeof head
    && write(file, names.data(), bytes) == static_cast<ssize_t>(bytes);
  close(file);
  if (!good || rename(draft, path) != 0) {
    unlink(draft);
    return 0;
  }
  return static_cast<int>(names.size());
}

/// As `gather_pages`, where they are: every run would split the huge page, so
/// it is split now, and what it has left over given back.
void gather_hot_blocks() {
  const auto begin = reinterpret_cast<uintptr_t>(region);
  if (!region || collapse(begin, begin + huge) == 0)
    return;
  constexpr size_t page = 4096;
  mprotect(region, page, PROT_READ);
  mprotect(region, page, PROT_READ | PROT_WRITE);
  for (size_t where = 0; where < parts; ++where) {
    const auto end = (used[where] + page - 1) / page * page;
    madvise(region + where * part_size + end, part_size - end, MADV_DONTNEED);
  }
}

void settle_hot_locks() {
  const auto set = find_python_allocator("PyMem_SetAllocator");
  auto& raw = inner[raw_domain];
  if (!region || !set || !raw.malloc)
    return;
  python_allocator plain{&raw, raw_malloc, raw_calloc, raw_realloc, hot_free};
  set(raw_domain, &plain);
}

int hot_blocks_placed() {
  return placed;
}

} // namespace troupe::zygote
