#pragma once

#include "runtime/local/warm/memory/private_pages.hpp"

namespace troupe::zygote {

/// How many of several runs have written to each page. Large, and without a
/// constructor: it lies in memory that is all zeros.
class write_counts {
public:
  void clear() {
    seen_.count = 0;
    runs_ = 0;
  }
  int runs() const { return runs_; }

  /// One run more: what is in `after` and not in `before`.
  void add(const page_list& before, const page_list& after);

  /// What at least so many of them have written to.
  void list(int runs, page_list& out) const;

private:
  void put(uintptr_t page, int times);

  int runs_;
  page_list seen_;
  uint8_t times_[page_list::most];
  page_list merged_; // while one is added
  uint8_t merged_times_[page_list::most];
};

} // namespace troupe::zygote
