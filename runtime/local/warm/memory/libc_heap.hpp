#pragma once

#include <stddef.h>
#include <stdint.h>

namespace troupe::zygote {

/// libc's large blocks go into its heap from here on, not into a mapping each.
void keep_libc_together();

/// The next few blocks of that size lie where the heap begins, which every
/// child writes to anyway.
void keep_blocks_ahead(size_t size);

/// The heap begins anew at a huge page; what is skipped is never touched.
void align_libc_heap();

/// What was freed before lies all over the place, and whatever is put there
/// shares its page with something unrelated: filled, and never used.
void fill_libc_holes();

/// What is in the heap by now, holes filled: whatever is asked for from here on
/// lies behind it.
struct address_range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
address_range settled_libc_heap();

/// Before the first fork: no holes, and huge pages. Returns how many.
int collapse_libc_heap();

} // namespace troupe::zygote
