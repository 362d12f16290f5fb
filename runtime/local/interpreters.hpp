#pragma once

#include "runtime/local/options.hpp"

#include <string>

namespace troupe {

/// An interpreter of this host, as runs will execute it.
struct interpreter {
  std::string path;   // absolute, links resolved
  std::string prefix; // to be shown as well when it is outside of /usr, or ""
};

struct interpreters {
  interpreter python;
  interpreter node;
};

/// Takes the configured ones; a bare name is looked for where every run sees
/// it. What is not there keeps a usual path, so that a run's error names it.
interpreters find_interpreters(const local_options& options);

} // namespace troupe
