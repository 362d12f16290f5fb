#pragma once

#include "runtime/local/warm/process/interpreter.hpp"

namespace troupe::zygote {

/// Before any fork: looks up what a child would have to look up.
void prepare_child_interpreter();

/// After a fork: CPython learns of it, and allocates as a child does.
void become_child_interpreter();

/// CPython, forked: a child calls one function of it and ends.
class python_interpreter final : public interpreter {
public:
  /// PyObject*: `run` is called with the channel's number and `leave`, which
  /// ends the process; `warm` without arguments, and may be null.
  python_interpreter(void* run, void* leave, void* warm);

  void live(packet order, descriptors& with, int preforked) override;

private:
  void* run_;
  void* leave_;
  void* warm_;
};

} // namespace troupe::zygote
