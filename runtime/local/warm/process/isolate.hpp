#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"
#include "runtime/local/warm/packet_io.hpp"

#include <sys/types.h>

namespace troupe::zygote {

/// Reads the plan out of its memory. False: it is not one.
bool read_plan(int fd, isolation::plan& out);

/// A bound on address space, where there is no group to bound memory, counts
/// what the zygote has reserved and never uses: adds it.
void make_room_for_interpreter(isolation::plan& plan);

/// In the slot, once: joins the groups, then the whole list of containment,
/// the same as for a cold start. `listener` is the filter's, or -1.
isolation::outcome isolate(isolation::plan& plan, const packet& order,
                           const descriptors& with, int go, int* listener);

} // namespace troupe::zygote
