#include "runtime/environment/tree_use.hpp"

#include <sys/stat.h>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t block_bytes = 512; // of st_blocks, whatever the disk's

} // namespace

tree_use use_of(const fs::path& directory) {
  tree_use sum;
  std::error_code why;
  fs::recursive_directory_iterator i{directory, why}, end;
  while (!why && i != end) {
    ++sum.inodes;
    struct stat about {};
    if (::lstat(i->path().c_str(), &about) == 0)
      sum.bytes += static_cast<std::uint64_t>(about.st_blocks) * block_bytes;
    i.increment(why);
  }
  return sum;
}

} // namespace troupe
