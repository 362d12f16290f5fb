#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"

#include <filesystem>

namespace troupe::net {

/// Listens on a Unix socket that only its owner and root may connect to. What
/// an ended process left there is replaced.
result<unique_fd> open_operator_socket(const std::filesystem::path& socket);

/// Whether the process on the other side belongs to root or to the user that
/// this engine runs as. The mode of the file says the same; a file may be
/// copied, mounted elsewhere, or given another mode.
bool is_operator_process(int connected);

} // namespace troupe::net
