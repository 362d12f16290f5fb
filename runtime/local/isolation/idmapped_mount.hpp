#pragma once

#include "runtime/base/unique_fd.hpp"

#include <sys/types.h>

namespace troupe::isolation {

/// A detached mount of a directory, no part of whose path may be a link, in
/// which whoever owns it on disk is the host uid `uid`: a run with a uid of its
/// own can use it, and what it writes belongs to the old owner again. Needs
/// privilege over the host's file systems; empty with errno set where that, or
/// the file system, says no.
unique_fd mapped_mount(const char* directory, uid_t uid, gid_t gid) noexcept;

/// User namespaces in which `from` of a file system is `uid` of the host.
unique_fd make_id_map(uid_t from_uid, gid_t from_gid, uid_t uid,
                      gid_t gid) noexcept;
/// A detached copy of such a mount, shifted by that map. Needs Linux 6.15.
unique_fd mapped_copy(int mount, int map) noexcept;

} // namespace troupe::isolation
