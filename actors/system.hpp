#pragma once

#include <caf/all.hpp>

#include <cstddef>

namespace troupe {

/// CAF's settings as measured to be right for us, whatever its defaults.
struct system_config : caf::actor_system_config {
  explicit system_config(std::size_t threads, bool with_network = false);
};

} // namespace troupe
