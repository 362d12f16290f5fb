#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Reads an environment marker of PEP 508, what follows the `;` of
/// `tomli; python_version < "3.11"`, and gives it back in one spelling. Only
/// comparisons of known variables with plain texts, joined by `and`, `or` and
/// brackets.
result<std::string> parse_marker(std::string_view text);

} // namespace troupe
