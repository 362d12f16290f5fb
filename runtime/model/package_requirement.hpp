#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One Python package. Parsed once, at the door; what reaches an installer is
/// built from these parts as one argument, never pasted into a shell line.
struct pip_requirement {
  std::string name; // PEP 508 name, case kept
  std::vector<std::string> extras;
  std::string specifier;   // "" or PEP 440: "==2.31.0", ">=1.26,<2"
  std::string marker = {}; // "" or PEP 508: where it counts at all

  friend bool operator==(const pip_requirement&, const pip_requirement&)
    = default;
};

/// One npm package.
struct npm_requirement {
  std::string name;    // with its scope: "@scope/name"
  std::string version; // "" or a range: "1.2.3", "^1.2", ">=1 <2"

  friend bool operator==(const npm_requirement&, const npm_requirement&)
    = default;
};

/// Reads `requests`, `requests==2.31.0`, `pandas[excel]>=2,<3`. Refuses
/// options, URLs, paths, markers and everything a shell would care about.
result<pip_requirement> parse_pip(std::string_view text);
/// The same with an environment marker behind a `;`, as in a requirements.txt.
result<pip_requirement> parse_marked_pip(std::string_view text);

/// Reads `left-pad`, `left-pad@1.3.0`, `@scope/pkg@^2`, and Letta's text form
/// `name@"version"`.
result<npm_requirement> parse_npm(std::string_view text);

/// The argument for the installer: `requests==2.31.0`.
std::string to_string(const pip_requirement& r);
/// The argument for the installer: `left-pad@1.3.0`.
std::string to_string(const npm_requirement& r);

} // namespace troupe
