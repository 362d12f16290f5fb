#pragma once

#include "runtime/base/error.hpp"
#include "runtime/engine/backend.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// What an environment is made of: an interpreter and packages. Two specs with
/// the same fingerprint are served by the same directory.
struct environment_spec {
  organization_id organization; // directories are never shared between tenants
  std::string python;           // interpreter to build for; "": no Python part
  std::string python_version;   // its mark, so that an upgrade builds anew
  std::string node_version;     // the same; "": no npm part
  std::string source;           // where from and how packages are taken
  std::vector<pip_requirement> pip;
  std::vector<npm_requirement> npm;

  bool empty() const { return pip.empty() && npm.empty(); }
};

/// Hex SHA-256 over everything that decides the content, order left aside.
std::string environment_fingerprint(const environment_spec& spec);

/// The packages of the requirements.txt in a directory; none when there is no
/// such file. A tenant owns that directory, so only a plain file counts, and
/// what is wrong with it is told by line number: it may not be what it seems.
/// Options, URLs and the like are refused, since they would choose where code
/// comes from.
result<std::vector<pip_requirement>>
read_requirements_file(const std::filesystem::path& directory);

} // namespace troupe
