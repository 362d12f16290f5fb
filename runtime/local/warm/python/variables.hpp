#pragma once

#include <stddef.h>

namespace troupe::zygote {

/// The process's variables from here on: `NAME=value`, each closed by a zero,
/// copied. False where there is no memory.
bool set_variables(const char* block, size_t size);

} // namespace troupe::zygote
