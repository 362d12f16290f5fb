#pragma once

#include <cstdint>
#include <filesystem>

namespace troupe {

/// What a directory takes of its disk.
struct tree_use {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

/// Of everything below `directory`, links not followed.
tree_use use_of(const std::filesystem::path& directory);

} // namespace troupe
