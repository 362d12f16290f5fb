#pragma once

#include "runtime/local/sandbox/inside/tar_writer.hpp"

#include <string>

namespace troupe::inside {

/// Makes below the folder `path`, which is made if need be, what a tar archive
/// has: files, folders, links. What is there is replaced, but for folders.
/// Nothing is made beside that folder, whatever names and links the archive
/// has. 0 or errno, and then `about`, the entry; EBADMSG: it is no archive, or
/// not a whole one; E2BIG: it has too many entries, or a name too long.
int unpack_tree(const char* path, int from, tree_count& count,
                std::string& about);

} // namespace troupe::inside
