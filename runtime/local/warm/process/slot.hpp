#pragma once

#include "runtime/local/warm/process/interpreter.hpp"

namespace troupe::zygote {

/// Descriptors 0 to 3 stay taken, so that what arrives lands above them and a
/// child can put it where it belongs. The interpreter lets go of its own.
void reserve_low_fds(interpreter& in);

/// The life of a slot after the zygote cloned it: isolate, then one child per
/// order. Never runs the interpreter, so that its heap stays shared with the
/// zygote. `go` is read to its end before anything is done: by then the zygote
/// has written the identity map. Returns only in a run's process.
void serve_slot(interpreter& in, const packet& order, descriptors& with,
                int go);

} // namespace troupe::zygote
