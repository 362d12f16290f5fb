#pragma once

#include "runtime/local/zygote/module/guest.hpp"

namespace troupe::zygote {

/// CPython, forked: a child calls one function of it and ends.
class python_guest final : public guest {
public:
  /// PyObject*: `run` is called with the channel's number, `warm` without
  /// arguments and may be null. Looks up what a child would have to look up.
  python_guest(void* run, void* warm);

  void live(packet order, descriptors& with, int armed) override;

private:
  void* run_;
  void* warm_;
};

} // namespace troupe::zygote
