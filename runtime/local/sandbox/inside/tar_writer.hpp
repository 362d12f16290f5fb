#pragma once

#include <cstdint>

namespace troupe::inside {

/// What went into an archive, or came out of one.
struct tree_count {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0; // of files
};

/// Writes what is at `path` as a tar archive (POSIX.1-2001): a folder with all
/// that lies below it, or one file. Links are archived as such; what is neither
/// file nor folder nor link is left out. 0 or errno; ESTALE: a file became
/// shorter meanwhile.
int pack_tree(const char* path, int to, tree_count& count);

} // namespace troupe::inside
