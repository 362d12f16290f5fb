#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/packages/options.hpp"
#include "runtime/packages/spec.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// Where an environment is seen from inside a sandbox, while it is built and
/// while it is used: the same path, so that scripts inside it stay right.
inline constexpr std::string_view environment_home = "/env";

/// Writes what the installer reads into the staged directory, and returns the
/// run that installs: no shell text is made from a requirement, and nothing
/// of the tenant's variables is in its environment.
result<prepared_run> installation(const environment_spec& spec,
                                  const std::filesystem::path& staged,
                                  const environment_options& options);

} // namespace troupe
