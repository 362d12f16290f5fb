#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <filesystem>

namespace troupe {

/// What a directory takes of its disk.
struct disk_usage {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

/// Of everything below `directory`, links not followed.
disk_usage use_of(const std::filesystem::path& directory);

/// Takes from everything below `directory`, and from itself, what a build may
/// have left there: files that others may write, and set-user-id and
/// set-group-id bits. Links are not followed. No process may be writing there.
result<void> close_to_writers(const std::filesystem::path& directory);

} // namespace troupe
