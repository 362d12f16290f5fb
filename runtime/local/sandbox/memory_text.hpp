#pragma once

#include "runtime/base/unique_fd.hpp"

#include <string_view>

namespace troupe {

/// A text as a file in memory that cannot be changed, to be read from its
/// beginning; empty with errno set. Its name is for people who look at
/// descriptors.
unique_fd memory_text(const char* name, std::string_view text);

// The same piece by piece, for a text that is too large to be copied at once.

unique_fd new_memory_text(const char* name);
bool append_text(const unique_fd& file, std::string_view piece);
/// Not to be changed any more.
bool seal_text(const unique_fd& file);

} // namespace troupe
