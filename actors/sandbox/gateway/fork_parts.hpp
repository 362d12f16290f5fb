#pragma once

#include "actors/sandbox/sandbox_services.hpp"
#include "runtime/model/sandbox.hpp"

#include <string>

namespace troupe {

/// What a sandbox is asked for as that is like its parent, but for its files.
sandbox_spec spec_of_fork(const sandbox_spec& parent, const fork_spec& what,
                          const std::string& snapshot);

/// A snapshot's files go at its place, if nothing is made from them.
void forget_at_place(const sandbox_services& services,
                     const snapshot_index::entry& gone);

} // namespace troupe
