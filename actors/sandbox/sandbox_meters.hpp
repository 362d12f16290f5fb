#pragma once

#include "actors/state/engine_metrics.hpp"
#include "runtime/model/sandbox.hpp"

#include <array>
#include <chrono>
#include <string>

namespace troupe {

struct sandbox_services;

/// What operators count about sandboxes, beside what there is now.
struct sandbox_meters {
  using counter = engine_metrics::counter;
  counter created{0};
  counter create_us{0};
  counter processes{0};
  std::array<counter, sandbox_ends> ended{};

  void end(sandbox_end why) {
    engine_metrics::add(ended[static_cast<std::size_t>(why)]);
  }
  void created_in(std::chrono::microseconds took) {
    engine_metrics::add(created);
    engine_metrics::add(create_us, static_cast<std::uint64_t>(took.count()));
  }
};

/// In Prometheus' text format.
std::string sandbox_metrics(const sandbox_services& services);

} // namespace troupe
