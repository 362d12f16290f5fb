#pragma once

#include "runtime/model/sandbox_config.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace troupe {
class response_store;
class environments;
class kept_files;
class maintenance;
class sandbox_engine;
} // namespace troupe

namespace troupe::net {

class previews;

/// The native interface's own bounds.
struct api_options {
  std::size_t run_body_limit = 16u << 20; // source, arguments, files inline
  std::size_t batch_items = 1'000;
  std::size_t batch_at_once = 64;
  std::chrono::seconds longest_wait{600};  // of `Prefer: wait=N`
  std::size_t remembered_answers = 10'000; // for Idempotency-Key
  std::chrono::hours remember_for{24};
  std::shared_ptr<response_store> archive; // null: until the process ends
  config_defaults defaults;            // of sandbox configs, from the process
  environments* packages = nullptr;    // of local runs; null: no local backend
  sandbox_engine* sandboxes = nullptr; // null: there are none here
  kept_files* files = nullptr;         // of large output files; null: none
  std::shared_ptr<previews> ports;     // of sandboxes; null: no host names
  maintenance* keeper = nullptr;       // of the store; null: nothing is kept
  /// Refuses new runs, and tells how many have not ended when the time (none:
  /// the engine's own) is over or it is none. Does not block. Null: cannot.
  std::function<void(std::optional<std::chrono::milliseconds> time,
                     std::function<void(std::size_t running)> done)>
    drain;
};

} // namespace troupe::net
