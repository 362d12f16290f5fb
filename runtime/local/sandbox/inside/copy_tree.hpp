#pragma once

namespace troupe::isolation {

/// Copies what is in one directory into another that is empty: files, links,
/// sockets as nothing, modes, times, and what an overlay notes beside them
/// (removed names, attributes). By descriptors, and no link is followed: what
/// is copied may change and may be hostile. 0 or errno; EOVERFLOW: it is deeper
/// than 200 directories.
int copy_tree(const char* from, const char* to) noexcept;

} // namespace troupe::isolation
