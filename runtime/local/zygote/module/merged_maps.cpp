// Buys: fork copies every mapping, whether or not it has pages: some 0.7 us
// each, and as much again when the child ends. A library is mapped in five
// parts, and an interpreter with the usual modules has two dozen of them. The
// three parts that are never written differ only in whether they may be
// executed; made alike, the kernel joins them. Constants become executable
// thereby. The two others are its data and, before it, what the loader has made
// read-only once it was done; writable again, they are one as well. In a
// process that runs whatever it is told to, nobody gains by either.
#include "runtime/local/zygote/module/merged_maps.hpp"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

struct mapping {
  unsigned long begin = 0;
  unsigned long end = 0;
  unsigned long offset = 0;
  unsigned long inode = 0;
  char mode[5] = "";

  bool is(const char* wanted) const { return strcmp(mode, wanted) == 0; }
  bool continues(const mapping& before) const {
    return inode != 0 && inode == before.inode && begin == before.end
      && offset == before.offset + (before.end - before.begin);
  }
};

constexpr int most_libraries = 256;

struct list {
  mapping all[most_libraries];
  int count = 0;

  void add(const mapping& one) {
    if (count < most_libraries)
      all[count++] = one;
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

bool parse(const char* line, mapping& out) {
  return sscanf(line, "%lx-%lx %4s %lx %*s %lu", &out.begin, &out.end, out.mode,
                &out.offset, &out.inode)
    == 5;
}

void find(found& in) {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return;
  char line[4096];
  mapping before;
  bool after_code = false;
  for (mapping now; fgets(line, sizeof line, maps) && parse(line, now);
       before = now) {
    const bool follows = now.continues(before);
    if (now.is("r-xp") && now.inode != 0) {
      mapping whole = now;
      if (follows && before.is("r--p"))
        whole.begin = before.begin;
      in.code.add(whole);
      after_code = true;
      continue;
    }
    if (after_code && follows && now.is("r--p") && in.code.count > 0)
      in.code.all[in.code.count - 1].end = now.end;
    else if (follows && before.is("r--p") && now.is("rw-p"))
      in.data.add(before);
    after_code = false;
  }
  fclose(maps);
}

int count_maps() {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  char line[4096];
  int count = 0;
  while (fgets(line, sizeof line, maps))
    ++count;
  fclose(maps);
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
