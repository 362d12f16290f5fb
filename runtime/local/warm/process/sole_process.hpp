#pragma once

#include <sys/types.h>

namespace troupe::zygote {

/// Whether a process is the only one that a slot has had since it was forked:
/// the kernel's own count of its pid namespace tells, which a tool cannot turn
/// back. Threads count as well.
class sole_process {
public:
  /// While the host's /proc is in sight.
  void open_count();
  /// Only for a slot that is the first process of a pid namespace, and only
  /// while `process` is not reaped. False where nobody can say.
  bool of(pid_t process) const;

private:
  int count_ = -1; // lives as long as the slot
};

} // namespace troupe::zygote
