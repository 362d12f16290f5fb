#pragma once

#include <cstdint>
#include <span>

namespace troupe {

/// Fills `out` with the kernel's randomness, asked for a page at a time: an id
/// per run must not cost a system call. What was given out is forgotten, and
/// a forked child never sees what its parent will use. Thread-safe. Not for
/// keys: those ask the kernel each time.
void random_bytes(std::span<std::uint8_t> out);

} // namespace troupe
