#pragma once

#include "runtime/local/sandbox/images/process_calls.hpp"

namespace troupe::images {

/// A line of /proc/self/maps.
struct mapping {
  word start, end, offset, inode;
  std::uint32_t protection;
  bool shared;
  const char* name; // not ended by a NUL
  word name_bytes;
};

/// The next line; false: there is none.
IN_IMAGE bool read_mapping(const char*& p, const char* end, mapping& out);

/// The whole of /proc/self/maps: its size, or an errno below 0.
IN_IMAGE long read_maps(char* to, word most);

enum class special { no, moved, fixed };

/// Pages of the kernel's own: what it has for clocks lies elsewhere in each
/// process, and can be moved.
INLINE special special_of(const mapping& m) {
  if (m.name_bytes < 5 || m.name[0] != '[')
    return special::no;
  if (m.name[1] != 'v')
    return special::no;
  return m.name[2] == 's' ? special::fixed : special::moved;
}

} // namespace troupe::images
