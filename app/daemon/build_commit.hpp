#pragma once

#include <string_view>

namespace troupe {

/// Of the sources, as git names it; "" where they came without git. Written
/// when building: cmake/write_commit.cmake.
std::string_view build_commit();

} // namespace troupe
