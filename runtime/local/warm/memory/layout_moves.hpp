#pragma once

#include "runtime/local/warm/memory/libc_heap.hpp"

#include <span>

namespace troupe::zygote {

// What `lay_out_memory` does with parts of memory. Addresses and content stay
// what they are; where the kernel says no, nothing has changed.

/// A part with one protection.
struct memory_part : address_range {
  int protection = 0;

  uintptr_t size() const { return end - begin; }
};

/// Whole huge pages. The parts of it, and holes between them, become one
/// mapping. Buys: a huge page is one entry of a page table for fork to copy,
/// where five hundred are copied, or faulted in again by every child. Costs
/// 2 MiB of memory each, once, and constants become executable where they share
/// a huge page with code: a process that runs any tool gains nothing by that.
bool move_to_huge_pages(std::span<const memory_part> parts, memory_part whole);

/// Buys: fork copies every mapping, those with pages of their own with a chain
/// of records each, and the end of the child takes it all apart again: some
/// 3 us for each. A library is mapped in five parts, and an interpreter with
/// the usual modules has two dozen of them. Copied into a file in memory, which
/// is mapped over them, once and privately, they are one mapping, of which fork
/// copies no page table. A run that comes by faults it in again, 64 KiB at a
/// time. Costs the memory of these libraries once more, some 8 MB, and they can
/// be written to as well as executed: see above.
bool join_into_file(address_range whole);

/// Buys: fork copies an entry for every small page of its own that a process
/// has, the end of the child drops it again, and each time the kernel looks at
/// its record of that page, which may lie anywhere: 0.15 us a page. Neighbours
/// within the memory of one huge page are counted together, for a third of
/// that. It is no matter where they are seen: a library's data, or V8's heap,
/// which lies in 256 KiB pieces all over the address space. They are copied
/// into huge pages, one behind the other, and moved back to where they were.
/// Costs no memory but what the last huge page has left over. Returns how many
/// were moved.
int gather_into_huge_pages(std::span<const memory_part> parts);

} // namespace troupe::zygote
