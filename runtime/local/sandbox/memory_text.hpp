#pragma once

#include "runtime/base/unique_fd.hpp"

#include <string_view>

namespace troupe {

/// A text as a file in memory that cannot be changed, to be read from its
/// beginning; empty with errno set. Its name is for people who look at
/// descriptors.
unique_fd memory_text(const char* name, std::string_view text);

} // namespace troupe
