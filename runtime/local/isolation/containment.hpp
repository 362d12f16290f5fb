#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// The whole list for a child that was just cloned with `clone_flags` and
/// whose parent has written the maps and the cgroups: one step per line, stops
/// at the first no. Afterwards the caller is pid 1 of an empty world, without
/// rights, under the filter. `listener` as in `install_filter`.
outcome contain(const plan& p, int* listener) noexcept;

/// The same list up to where the caller could make no world any more, for a
/// slot with `namespaces_per_run`: it keeps its capabilities in its user
/// namespace and has neither Landlock nor a scratch, and a filter that leaves
/// it what it takes to make worlds. It must never run a tool's byte.
outcome contain_slot(const plan& p, int* listener) noexcept;

/// What was left out, for a child of such a slot that was just cloned with
/// `run_namespace_flags`. Afterwards it is as confined as after `contain`.
outcome contain_run(const plan& p) noexcept;

/// A plan as bytes, for a helper that receives it over a socket, and back.
std::string encode(const plan& p);
bool decode(const void* data, std::size_t size, plan& out);

} // namespace troupe::isolation
