// Buys: fork copies every mapping, whether or not it has pages: some 0.7 us
// each, and as much again when the child ends. A library is mapped in five
// parts, and an interpreter with the usual modules has two dozen of them. The
// three parts that are never written differ only in whether they may be
// executed; made alike, the kernel joins them. Constants become executable
// thereby. The two others are its data and, before it, what the loader has made
// read-only once it was done; writable again, they are one as well. In a
// process that runs whatever it is told to, nobody gains by either.
#include "runtime/local/warm/memory/merged_maps.hpp"

#include "runtime/local/warm/memory/memory_map.hpp"

namespace troupe::zygote {

namespace {

constexpr int most_libraries = 256;

struct list {
  struct {
    uintptr_t begin, end;
  } all[most_libraries];
  int count = 0;

  void add(uintptr_t begin, uintptr_t end) {
    if (count < most_libraries)
      all[count++] = {begin, end};
  }
  void protect(int mode) const {
    for (int i = 0; i < count; ++i)
      mprotect(reinterpret_cast<void*>(all[i].begin), all[i].end - all[i].begin,
               mode);
  }
};

struct found {
  list code; // with the headers before and the constants behind it
  list data; // the read-only part of it
};

bool continues(const mapping& m, const mapping& before) {
  return m.inode != 0 && m.inode == before.inode && m.begin == before.end
    && m.offset == before.offset + before.size();
}

void find(found& in) {
  char room[map_room];
  map_reader maps{room};
  mapping before;
  bool after_code = false;
  for (mapping now; maps.next(now); before = now) {
    const bool follows = continues(now, before);
    const bool after_constants = follows && before.is_private(PROT_READ);
    if (now.is_private(PROT_READ | PROT_EXEC) && now.inode != 0) {
      in.code.add(after_constants ? before.begin : now.begin, now.end);
      after_code = true;
      continue;
    }
    if (after_code && follows && now.is_private(PROT_READ) && in.code.count > 0)
      in.code.all[in.code.count - 1].end = now.end;
    else if (after_constants && now.is_private(PROT_READ | PROT_WRITE))
      in.data.add(before.begin, before.end);
    after_code = false;
  }
}

int count_maps() {
  char room[map_room];
  map_reader maps{room};
  int count = 0;
  for (mapping m; maps.next(m);)
    ++count;
  return count;
}

} // namespace

int merge_maps() {
  const auto before = count_maps();
  static found all; // too large for a stack, and of no use afterwards
  find(all);
  all.code.protect(PROT_READ | PROT_EXEC);
  all.data.protect(PROT_READ | PROT_WRITE);
  return before - count_maps();
}

} // namespace troupe::zygote
