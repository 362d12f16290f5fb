#pragma once

#include "runtime/local/warm/protocol.hpp"

#include <sys/resource.h>
#include <sys/types.h>

namespace troupe::zygote {

/// What a run used, and which bounds it met: the slot's own observations,
/// taken from the kernel, never from the tool.
class usage_meter {
public:
  /// Descriptors of the memory group's peak and events, and of the pids
  /// group's events; -1 for what the host has not.
  usage_meter(int peak, int events, int forks)
      : peak_{peak}, events_{events}, forks_{forks} {}

  void begin_slot();
  void begin_run();
  void add(const rusage& used); // of each reaped process
  void ended(int status);       // of the run's own process
  /// Before the killing: what dies gives its files back.
  void look_at_scratch();
  void scratch_was_full();
  packet result();
  /// Of a run whose process is not reaped yet, and the only one there was.
  packet result_so_far(pid_t process);
  bool sees_memory() const { return peak_ >= 0; }

private:
  int peak_;
  int events_;
  int forks_;
  std::uint64_t kills_before_ = 0;
  std::uint64_t refusals_before_ = 0;
  packet seen_;
};

} // namespace troupe::zygote
