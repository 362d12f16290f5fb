#pragma once

#include <stdint.h>

namespace troupe::zygote {

/// A file in memory, for content that takes the place of memory: mapped
/// privately, it reads as before, who writes to it gets a page of its own, and
/// fork copies no page table of it. Nobody can change the file once this is
/// gone.
class memory_file {
public:
  explicit memory_file(const char* name);
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file();

  /// Gaps in between, which cannot be read, become zeros. False, and nothing
  /// changed, where the host does not let us.
  bool take_over(uintptr_t begin, uintptr_t end, int protection);

private:
  int file_;
  uintptr_t first_ = 0; // what the beginning of the file is for
  uintptr_t size_ = 0;
};

} // namespace troupe::zygote
