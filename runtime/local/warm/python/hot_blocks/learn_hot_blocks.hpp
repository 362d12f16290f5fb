#pragma once

#include "runtime/local/warm/memory/libc_heap.hpp"

#include <span>

namespace troupe::zygote {

/// What is watched for writes: runs of our own, in a process like a child's.
class sample_runs {
public:
  virtual int count() const = 0;
  /// Everything from here on may write.
  virtual void become_child() = 0;
  virtual void run(int index) = 0;

protected:
  ~sample_runs() = default;
};

/// Writes down which blocks in these parts of memory the runs write to, for
/// `place_hot_blocks`; after `remember_blocks`. The process is of no use
/// afterwards. Returns how many blocks; 0: nothing was written down.
int learn_hot_blocks(const char* profile, std::span<const address_range> heap,
                     sample_runs& runs);

} // namespace troupe::zygote
