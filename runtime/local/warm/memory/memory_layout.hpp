#pragma once

#include <span>

namespace troupe::zygote {

/// What becomes of the memory of an interpreter before its first fork.
struct memory_layout {
  /// An address in each library that every run uses, the interpreter first;
  /// null ones count for nothing.
  std::span<const void* const> used;
  bool huge_text = false;        // theirs onto huge pages
  bool joined_libraries = false; // all others are few mappings
  bool gathered_pages = false;   // what was written to lies side by side
};

/// In the zygote, when nothing of it runs any more: reads the memory map once,
/// decides what becomes of each mapping, and carries that out. Returns how many
/// huge pages code and constants lie on now.
int lay_out_memory(const memory_layout& wanted);

} // namespace troupe::zygote
