#include "runtime/packages/options.hpp"

namespace troupe {

void environment_options::use(const interpreters& those) {
  python = those.python.path;
  node = those.node.path;
  // A link of a package manager may be all that stands beside it.
  auto beside = std::filesystem::path{node}.parent_path() / "npm";
  std::error_code why;
  if (std::filesystem::exists(beside, why))
    npm = beside.string();
}

} // namespace troupe
