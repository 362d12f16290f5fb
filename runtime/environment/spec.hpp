#pragma once

#include "runtime/backend.hpp"
#include "runtime/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// What an environment is made of: an interpreter and packages. Two specs with
/// the same fingerprint are served by the same directory.
struct environment_spec {
  organization_id organization; // directories are never shared between tenants
  std::string python;           // interpreter to build for; "": no Python part
  std::string python_version;   // "3.11.2", so that an upgrade builds anew
  std::vector<pip_requirement> pip;
  std::vector<npm_requirement> npm;

  bool empty() const { return pip.empty() && npm.empty(); }
};

/// Hex SHA-256 over everything that decides the content, order left aside.
std::string environment_fingerprint(const environment_spec& spec);

/// One list out of two. The same package twice is fine when one of them does
/// not care about the version or both say the same; else a conflict that names
/// the package and both versions.
result<std::vector<pip_requirement>>
merge(const std::vector<pip_requirement>& config,
      const std::vector<pip_requirement>& tool);
result<std::vector<npm_requirement>>
merge(const std::vector<npm_requirement>& config,
      const std::vector<npm_requirement>& tool);

/// PEP 503: how package names are compared ("Foo.Bar_baz" is "foo-bar-baz").
std::string normalized_name(std::string_view name);

/// The packages of a requirements.txt. Options, URLs and the like are refused
/// with the line's number, since they would choose where code comes from.
result<std::vector<pip_requirement>>
read_requirements_file(const std::filesystem::path& file);

} // namespace troupe
