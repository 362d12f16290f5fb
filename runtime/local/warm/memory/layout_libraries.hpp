#pragma once

#include <span>

namespace troupe::zygote {

/// In the zygote, before the first fork: libraries that lie behind each other
/// become one mapping, but for the program itself, the loader, and those around
/// the addresses in `kept`. Returns how many mappings that saved.
int join_libraries(std::span<const void* const> kept);

} // namespace troupe::zygote
