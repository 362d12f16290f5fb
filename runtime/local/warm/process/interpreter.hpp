#pragma once

#include "runtime/local/warm/packet_io.hpp"

#include <unistd.h>

namespace troupe::zygote {

/// The interpreter that this code was loaded into, as far as its zygote and
/// the slots care.
class interpreter {
public:
  /// Whether it may have threads of its own, asleep while it is forked and
  /// not missed in a child.
  virtual bool may_have_threads() const { return false; }

  /// In the slot, before anything else: lets go of what the interpreter has
  /// open. Descriptors 0 to 3 are taken, `null` is /dev/null. And once more
  /// when the slot has one of its own.
  virtual void enter_slot(int null) { static_cast<void>(null); }

  /// In the slot: forks a run's process, with the handlers that this
  /// interpreter counts on.
  virtual pid_t fork() { return _Fork(); }

  /// The life of one run after the fork: the order's descriptors become 1 to
  /// 3, the interpreter learns that it was forked. With a `prefork` order it
  /// waits on `preforked` for the `run`, and may be told to warm itself
  /// meanwhile. Where it returns, the run goes on behind `serve_zygote`.
  virtual void live(packet order, descriptors& with, int preforked) = 0;

protected:
  ~interpreter() = default;
};

} // namespace troupe::zygote
