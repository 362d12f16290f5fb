#pragma once

#include "runtime/local/warm/memory/memory_map.hpp"

#include <stddef.h>
#include <stdint.h>

namespace troupe::zygote {

/// A list of pages, by address, ascending. In memory that somebody else has
/// made, for looking must not change what is looked at.
struct page_list {
  static constexpr size_t most = 8192;
  size_t count;
  uintptr_t page[most];
};

/// Room for what has to be read meanwhile.
struct page_scratch {
  char maps[map_room];
  uint64_t entries[2048];
};

/// Which of its private, writable pages this process has for itself: written to
/// since it was forked. False where the kernel does not tell.
bool list_own_pages(page_list& out, page_scratch& with);

} // namespace troupe::zygote
