#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/package_requirement.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// PEP 503: how package names are compared ("Foo._-Bar" is "foo-bar").
std::string normalized_name(std::string_view name);

/// Both lists as one. The same package twice: one exact version wins over no
/// version, ranges are joined, two different exact versions are an error that
/// names both and where they come from. What counts only somewhere, by its
/// marker, is another package than what counts elsewhere.
result<std::vector<pip_requirement>>
merge(const std::vector<pip_requirement>& first, std::string_view first_name,
      const std::vector<pip_requirement>& second, std::string_view second_name);
result<std::vector<npm_requirement>>
merge(const std::vector<npm_requirement>& first, std::string_view first_name,
      const std::vector<npm_requirement>& second, std::string_view second_name);

} // namespace troupe
