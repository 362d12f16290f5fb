// Buys: fork does not copy the page table of a file's code, so every child
// faults it in again, 64 KiB at a time. Anonymous memory is copied by fork,
// and a huge page of it is one entry. The copy is moved over the original in
// one call, from code that lies elsewhere; return addresses stay what they are.
// Where code and constants share a huge page, the constants become executable
// with it: in a process that runs whatever it is told to, nobody gains by that.
#include "runtime/local/zygote/module/huge_text.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

struct range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

/// The code mapping around an address of the interpreter, and the image of
/// adjacent mappings of the same file that nobody writes to.
bool find_code(uintptr_t inside, range& text, range& image) {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  char line[4096];
  unsigned long last_inode = 0;
  bool found = false;
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end, inode;
    char mode[5];
    if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &begin, &end, mode, &inode)
        != 4)
      break;
    const bool follows = image.end == begin && inode == last_inode;
    const bool read_only = inode != 0 && mode[0] == 'r' && mode[1] == '-';
    if (found && !(follows && read_only))
      break;
    if (!follows || !read_only)
      image.begin = begin;
    image.end = end;
    last_inode = inode;
    if (begin <= inside && inside < end && strcmp(mode, "r-xp") == 0) {
      text = {begin, end};
      found = true;
    }
  }
  fclose(maps);
  return found;
}

} // namespace

int move_text() {
  const auto inside = reinterpret_cast<uintptr_t>(
    dlsym(RTLD_DEFAULT, "PyObject_GetAttrString"));
  range text, image;
  if (!inside || !find_code(inside, text, image))
    return 0;
  // Whole huge pages around the code as far as the image goes, and what code
  // lies before and behind them.
  range part = text;
  if (down(text.begin) >= image.begin)
    part.begin = down(text.begin);
  if (up(text.end) <= image.end)
    part.end = up(text.end);
  if (!replace(part.begin, part.end, PROT_READ | PROT_EXEC))
    return 0;
  return up(part.begin) < part.end
    ? static_cast<int>((down(part.end) - up(part.begin)) / huge)
    : 0;
}

} // namespace troupe::zygote
