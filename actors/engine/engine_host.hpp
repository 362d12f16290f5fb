#pragma once

#include "actors/context/engine_options.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace troupe {

/// Owns an engine: the actor system, the supervisor, the cluster listener and
/// the stores behind it. `troupe serve` (app/assembly), commands and the
/// embedded interface (app/embed) open one. Its interface is free of CAF.
class engine_host {
public:
  virtual ~engine_host() = default;
  virtual troupe::engine& engine() = 0;
  virtual sandbox_engine& sandboxes() = 0;
  using time_point = std::chrono::steady_clock::time_point;

  /// Refuses new runs and waits for the others, up to `drain_timeout` or until
  /// the time that was said to `drain`; then ends them, answers all callers and
  /// stops everything. The second call does nothing; the destructor calls it.
  virtual void stop() = 0;
  /// Refuses new runs from now on; the others have until then.
  virtual void drain(time_point until) = 0;
  /// Runs that have not ended, in any phase.
  virtual std::size_t running() const = 0;
  /// The port that other processes' actors may connect to, the door's if there
  /// is one; 0: none.
  virtual std::uint16_t published_port() const = 0;
};

/// Opens the stores, starts all actors; ready for work when it returns.
result<std::unique_ptr<engine_host>> open_engine(engine_options options);

} // namespace troupe
