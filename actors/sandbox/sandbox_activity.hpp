#pragma once

#include "actors/state/sandbox_options.hpp"

#include <atomic>

namespace troupe {

/// When a sandbox was used last. Thread-safe.
class sandbox_activity {
public:
  using time_point = sandbox_options::clock::time_point;

  void touch(time_point now) { last_ = now.time_since_epoch(); }
  time_point last() const { return time_point{last_.load()}; }

private:
  std::atomic<time_point::duration> last_{time_point::duration::zero()};
};

} // namespace troupe
