#pragma once

#include <csignal>

namespace troupe {

/// Takes SIGINT, SIGTERM and SIGHUP out of the hands of the kernel. Made before
/// the first thread, so that all threads inherit the mask; as PID 1 of a
/// container nobody else would handle them. A SIGHUP that was ignored when we
/// started (nohup) stays ignored.
class stop_signals {
public:
  stop_signals();

  /// The number of the signal that came.
  int wait() const;
  /// From now on the next one ends the process at once.
  void stop_waiting() const;

private:
  sigset_t set_;
};

} // namespace troupe
