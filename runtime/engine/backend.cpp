#include "runtime/engine/backend.hpp"

namespace troupe {

const sandbox_config& config_of(const prepared_run& run) {
  static const sandbox_config nothing;
  return run.config ? *run.config : nothing;
}

} // namespace troupe
