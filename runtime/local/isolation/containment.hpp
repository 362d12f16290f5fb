#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// The whole list for a child that was just cloned with `clone_flags` and
/// whose parent has written the maps and the cgroups: one step per line, stops
/// at the first no. Afterwards the caller is pid 1 of an empty world, without
/// rights, under the filter. `listener` as in `install_filter`.
outcome contain(const plan& p, int* listener) noexcept;

/// The last part alone: rights away, limits, Landlock, filter. For a slot
/// whose zygote already built the tree.
outcome confine(const plan& p, int* listener) noexcept;

/// A plan as bytes, for a helper that receives it over a socket, and back.
std::string encode(const plan& p);
bool decode(const void* data, std::size_t size, plan& out);

} // namespace troupe::isolation
