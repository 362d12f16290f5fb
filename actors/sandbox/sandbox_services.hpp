#pragma once

#include "actors/context/run_services.hpp"
#include "actors/sandbox/sandbox_index.hpp"
#include "actors/sandbox/sandbox_meters.hpp"

#include <chrono>
#include <memory>

namespace troupe {

/// What the controller, the sandboxes' actors and their front share.
struct sandbox_services {
  explicit sandbox_services(sandbox_options how) : options{std::move(how)} {}

  const sandbox_options options;
  sandbox_index index;
  sandbox_meters meters;
  class request_router* router = nullptr; // set before there are actors

  using clock = sandbox_options::clock;
  clock::time_point now() const {
    return options.now ? options.now() : clock::now();
  }
};
using sandbox_services_ptr = std::shared_ptr<sandbox_services>;

} // namespace troupe
