#pragma once

#include "actors/context/run_services.hpp"
#include "actors/sandbox/sandbox_index.hpp"
#include "actors/sandbox/sandbox_meters.hpp"
#include "actors/sandbox/sandbox_register.hpp"
#include "actors/sandbox/snapshot_index.hpp"

#include <chrono>
#include <memory>

namespace troupe {

/// What the controller, the sandboxes' actors and their front share.
struct sandbox_services {
  explicit sandbox_services(sandbox_options how)
      : options{std::move(how)}, records{options.store} {}

  const sandbox_options options;
  sandbox_index index;
  sandbox_meters meters;
  snapshot_index snapshots;
  sandbox_register records;
  /// What an engine before us has left; the first controller takes it.
  std::vector<stored_sandbox> left;
  class request_router* router = nullptr; // set before there are actors

  using clock = sandbox_options::clock;
  clock::time_point now() const {
    return options.now ? options.now() : clock::now();
  }
};
/// A sandbox there has to be remembered on disk.
bool outlives_us(const sandbox_place& place);

using sandbox_services_ptr = std::shared_ptr<sandbox_services>;

} // namespace troupe
