#include "runtime/local/warm/memory/write_counts.hpp"

#include <string.h>

namespace troupe::zygote {

void write_counts::put(uintptr_t page, int times) {
  if (merged_.count == page_list::most)
    return;
  merged_times_[merged_.count] = static_cast<uint8_t>(times);
  merged_.page[merged_.count++] = page;
}

void write_counts::add(const page_list& before, const page_list& after) {
  ++runs_;
  size_t b = 0, s = 0;
  merged_.count = 0;
  for (size_t a = 0; a < after.count; ++a) {
    const auto page = after.page[a];
    while (b < before.count && before.page[b] < page)
      ++b;
    if (b < before.count && before.page[b] == page)
      continue;
    for (; s < seen_.count && seen_.page[s] < page; ++s)
      put(seen_.page[s], times_[s]);
    const bool known = s < seen_.count && seen_.page[s] == page;
    put(page, known ? times_[s++] + 1 : 1);
  }
  for (; s < seen_.count; ++s)
    put(seen_.page[s], times_[s]);
  seen_ = merged_;
  memcpy(times_, merged_times_, sizeof times_);
}

void write_counts::list(int runs, page_list& out) const {
  out.count = 0;
  for (size_t i = 0; i < seen_.count; ++i)
    if (times_[i] >= runs)
      out.page[out.count++] = seen_.page[i];
}

} // namespace troupe::zygote
