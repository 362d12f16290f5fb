#pragma once

#include "app/cli/engine_locator.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// What a client of the Model Context Protocol on standard input is served
/// with.
struct mcp_words {
  std::string session; // "": TROUPE_SESSION, else the key's default one
  std::string toolsets;
  std::string tools;
  std::string exclude;
  bool read_only = false;

  /// As fields of the requests to the engine.
  std::vector<std::pair<std::string, std::string>> fields() const;
};

/// Messages on standard input, one per line, answered on standard output: by
/// the engine, which is looked for, or opened, when one first needs it. Until
/// the input ends; the exit code.
int serve_mcp(const mcp_words& said, const session_options& how);

} // namespace troupe
