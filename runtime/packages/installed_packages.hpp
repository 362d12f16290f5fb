#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// What the installers say they put in, each with its version and hash;
/// bounded, since packages wrote it.
std::vector<std::string>
installed_packages(const std::filesystem::path& directory);

} // namespace troupe
