#pragma once

#include "runtime/local/zygote/wire.hpp"

namespace troupe::zygote {

/// What a child needs of the interpreter, given before the fork.
struct interpreter {
  void* run = nullptr;  // PyObject*: called with the channel's number
  void* warm = nullptr; // PyObject*: called without arguments, may be null
};

/// In the zygote, once: looks up what a child would have to look up.
void prepare_children();

/// The life of one run after the fork: the order's descriptors become 1 to 3,
/// the interpreter learns that it was forked, the runner does the rest. With
/// an `arm` order it warms itself first and waits on `armed` for the `run`.
[[noreturn]] void live(const interpreter& python, packet order,
                       descriptors& with, int armed);

} // namespace troupe::zygote
