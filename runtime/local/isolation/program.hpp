#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Whether this kernel can do what is below.
bool can_change_program() noexcept;

/// The program that this process executes is, from here on, the file at `path`
/// of the tree: /proc/self/exe leads to a mount that is read-only, and no
/// longer to the host's, where an owner may change it. It must be the same
/// file, with nothing of it mapped. Needs rights over the user namespace.
outcome change_program(const char* path) noexcept;

} // namespace troupe::isolation
