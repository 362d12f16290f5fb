#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// The kernel's Landlock version; 0: none.
int landlock_version() noexcept;

/// The second fence, from inside the finished tree: reading and executing
/// everywhere in it, writing only in /tmp, /dev and `writable` directories;
/// abstract sockets and signals stay inside where the kernel can (version 6).
outcome restrict_files(const char* const* writable, int count) noexcept;

} // namespace troupe::isolation
