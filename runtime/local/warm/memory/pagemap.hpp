#pragma once

#include <stddef.h>
#include <stdint.h>

#include <span>

namespace troupe::zygote {

inline constexpr uintptr_t page = 4096;

/// What the kernel tells about the pages of this process, an entry for each, as
/// Documentation/admin-guide/mm/pagemap.rst numbers the bits.
class pagemap {
public:
  static constexpr uint64_t present = 1ull << 63;
  static constexpr uint64_t of_a_file = 1ull << 61;
  static constexpr uint64_t mapped_once = 1ull << 56;

  pagemap();
  ~pagemap();
  pagemap(const pagemap&) = delete;
  pagemap& operator=(const pagemap&) = delete;

  /// The entries from this page on; returns how many could be read.
  size_t read(uintptr_t begin, std::span<uint64_t> entries) const;

  /// How many of so many pages are in memory; 0 as well if nobody tells.
  size_t count_present(uintptr_t begin, std::span<uint64_t> entries) const;

private:
  int file_;
};

} // namespace troupe::zygote
