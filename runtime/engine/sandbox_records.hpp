#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/model/sandbox.hpp"

#include <vector>

namespace troupe {

/// What is kept of a living sandbox: enough to say what became of it, and to
/// reach it again where it outlived the engine.
struct stored_sandbox {
  sandbox_record record;
  environment env;
  sandbox_handle box; // its id is "" until it is known
};

/// Where records of living sandboxes are kept, their variables and tokens
/// sealed. Waits for the disk. Thread-safe.
class sandbox_records {
public:
  virtual ~sandbox_records() = default;
  /// In place of what is there of the same id. `synced`: outlives power loss.
  virtual result<void> put(const stored_sandbox& what, bool synced) = 0;
  virtual result<void> erase(const organization_id& organization,
                             const sandbox_id& id)
    = 0;
  /// All that can be read; `unreadable` counts the others.
  virtual result<std::vector<stored_sandbox>> load(std::size_t& unreadable) = 0;
};

} // namespace troupe
