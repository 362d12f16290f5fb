#pragma once

#include "net/providers/sandbox_files.hpp"

namespace troupe::net {

/// Files in and out of a sandbox: written, listed, read back and compared,
/// moved, removed. The files have to be there until it is through.
rehearsal files_rehearsal(remote_files& files);

} // namespace troupe::net
