#pragma once

#include <cstdint>

namespace troupe {

/// How much of a sandbox's memory its files may take, where they lie in it:
/// what fills them must leave room for a shell that removes some.
constexpr std::uint64_t most_sandbox_files(std::uint64_t memory_bytes) {
  return memory_bytes - memory_bytes / 4;
}

} // namespace troupe
