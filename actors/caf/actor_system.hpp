#pragma once

#include "runtime/async/io_thread.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// How many threads run actors by default: one per two cores. More
/// would mostly wake each other, and take cores from what has more to do.
std::uint32_t default_thread_count();

/// CAF's settings as measured to be right for us, whatever its defaults.
struct system_config : caf::actor_system_config {
  explicit system_config(std::size_t threads, bool with_network = false,
                         io_thread* sockets = nullptr, bool stepped = false,
                         std::chrono::milliseconds heartbeats
                         = std::chrono::seconds{5});

  io_thread* const sockets; // see scheduler_policy.hpp; outlives the system
};

/// A thread that made a system or a scoped actor holds the system's logger from
/// then on, and a system ends when nothing holds that: as long as this thread
/// lived, no other one could end it. Declared first, this lets go at the end.
struct logger_released_at_end {
  ~logger_released_at_end() { caf::logger::set_current_actor_system(nullptr); }
};

} // namespace troupe
