// Buys: fork does not copy the page table of a file's code, so every child
// faults it in again, 64 KiB at a time. Anonymous memory is copied by fork,
// and a huge page of it is one entry. The copy is moved over the original in
// one call, from code that lies elsewhere; return addresses stay what they are.
// Where code and constants share a huge page, the constants become executable
// with it: in a process that runs whatever it is told to, nobody gains by that.
#include "runtime/local/warm/memory/layout_text.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"

#include <dlfcn.h>
#include <stdint.h>
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
  char room[map_room];
  map_reader maps{room};
  uint64_t last_inode = 0;
  bool found = false;
  for (mapping m; maps.next(m);) {
    const bool follows = image.end == m.begin && m.inode == last_inode;
    const bool read_only = m.inode != 0 && m.is_read_only();
    if (found && !(follows && read_only))
      break;
    if (!follows || !read_only)
      image.begin = m.begin;
    image.end = m.end;
    last_inode = m.inode;
    if (m.has(inside) && m.is_private(PROT_READ | PROT_EXEC)) {
      text = {m.begin, m.end};
      found = true;
    }
  }
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
