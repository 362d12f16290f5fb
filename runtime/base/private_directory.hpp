#pragma once

#include "runtime/base/error.hpp"

#include <filesystem>

namespace troupe {

/// A directory that only its owner may enter, whatever the umask: made with
/// mode 0700, and so is every parent that was missing. One that is there
/// already is closed to others; where that is refused a warning says so.
result<void> make_private_directory(const std::filesystem::path& directory);

/// The same for the data directory. One that is there and open to others is
/// closed only if nothing but ours lies in it: an operator may have named one
/// that others need as well. Such a one is left, and a warning says so.
result<void> make_data_directory(const std::filesystem::path& directory);

} // namespace troupe
