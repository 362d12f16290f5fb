#pragma once

#include <csignal>

namespace troupe {

/// Takes SIGINT, SIGTERM and SIGHUP out of the hands of the kernel. Made before
/// the first thread, so that all threads inherit the mask; as PID 1 of a
/// container no other process would handle them. A SIGHUP that was ignored when
/// we started (nohup) stays ignored.
class stop_signals {
public:
  stop_signals();

  struct arrival {
    int number = 0;
    /// SIGHUP sent by a process. From the kernel it means that the
    /// terminal is gone, and that is the end.
    bool reload = false;
  };
  arrival wait() const;
  /// From now on the next one ends the process at once.
  void stop_waiting() const;

private:
  sigset_t set_;
};

} // namespace troupe
