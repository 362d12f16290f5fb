#pragma once

#include "runtime/local/warm/memory/libc_heap.hpp"

#include <array>

namespace troupe::zygote {

/// Before the preload: what the interpreter allocates from here on lies side
/// by side. False, and nothing changed, where it cannot.
bool gather_heap();

/// The same before the interpreter starts, with all that it allocates.
void gather_heap_from_the_start();

/// What is in the heap by now, holes filled. What a tool has the kernel write
/// to lies behind it.
std::array<address_range, 2> settled_heap();

/// After the preload: that heap onto huge pages. Returns how many there are.
int collapse_heap();

} // namespace troupe::zygote
