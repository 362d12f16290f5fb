#pragma once

#include "actors/engine/engine_host.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace troupe {

/// Drains an engine that goes on serving: new runs are refused, and whether the
/// others have ended is told when that is so or the time is over. A thread of
/// its own waits for it, since the drain asks actors and blocks.
class engine_drain {
public:
  explicit engine_drain(engine_host& engine) : engine_{engine} {}
  ~engine_drain() { stop(); }
  engine_drain(const engine_drain&) = delete;
  engine_drain& operator=(const engine_drain&) = delete;

  /// `done` gets the number of runs that have not ended. Any thread.
  void begin(std::chrono::milliseconds time,
             std::function<void(std::size_t)> done);
  /// Whoever still waits is answered at once.
  void stop();

private:
  engine_host& engine_;
  std::atomic<bool> stopping_{false};
  boost::asio::thread_pool thread_{1};
};

} // namespace troupe
