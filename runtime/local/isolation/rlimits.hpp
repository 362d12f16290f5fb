#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Lowers each limit, soft and hard; never asks for more than the host gives.
outcome lower_rlimits(const std::vector<rlimit_plan>& limits) noexcept;

} // namespace troupe::isolation
