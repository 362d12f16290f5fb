#pragma once

#include "runtime/model/sandbox.hpp"

#include <string>
#include <vector>

namespace troupe {

/// A new sandbox in which contexts of another one go on.
struct sandbox_branch {
  sandbox_record_ptr sandbox;
  /// By the name that it has in the other one as well, and what it had there
  /// and has not here.
  struct context {
    std::string id;
    std::vector<std::string> lost;
  };
  std::vector<context> contexts;
};

/// What became of a call for branches: all of them are there.
struct sandbox_branches {
  std::vector<sandbox_branch> all;
  /// Contexts that nobody asked for by name and that do not come along.
  struct left_context {
    std::string id;
    std::string reason;
  };
  std::vector<left_context> left;
};

} // namespace troupe
