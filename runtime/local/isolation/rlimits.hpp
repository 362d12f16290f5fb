#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Lowers each limit, soft and hard; never asks for more than the host gives.
outcome lower_rlimits(const std::vector<rlimit_plan>& limits) noexcept;

/// That of open files alone, not before the descriptors are in their places:
/// their old numbers may be beyond what a program is allowed.
outcome bound_open_files(std::uint64_t count) noexcept;

} // namespace troupe::isolation
