#include "runtime/engine/backend.hpp"

namespace troupe {

const sandbox_config& config_of(const prepared_run& run) {
  static const sandbox_config nothing;
  return run.config ? *run.config : nothing;
}

bool has_files(const prepared_run& run) {
  return !run.files.empty() || !run.outputs.empty();
}

} // namespace troupe
