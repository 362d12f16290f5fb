#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// What will lie over files of /proc, below the folder `proc` of the store,
/// which is the working directory.
bool write_proc_covers(const told_host& told) noexcept;

/// A new /proc, read-only: processes of this namespace that the caller may look
/// at, and of all else only what is named in the source file. What tells of the
/// host is covered, by what tells of the sandbox's limits or by nothing; each
/// cover is looked at. Where the host grants only one without all that, it has
/// only processes.
outcome show_living_proc(int store) noexcept;

} // namespace troupe::isolation
