#pragma once

#include "runtime/base/error.hpp"

#include <string>

namespace troupe {

/// Makes a venv without a single package at `directory` and returns its
/// interpreter: one that finds the standard library and nothing else, as that
/// of every environment does before it looks at the packages.
result<std::string> make_bare_venv(const std::string& directory,
                                   const std::string& python);

} // namespace troupe
