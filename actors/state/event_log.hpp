#pragma once

#include "runtime/engine/engine.hpp"

#include <boost/circular_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe {

struct event_bounds {
  std::size_t events = 8'192;    // kept per run
  std::size_t bytes = 2u << 20;  // of output kept per run
  std::size_t subscribers = 64;  // per run
  std::size_t chunk = 64u << 10; // one event's data at most
};

/// What happened to one run, for all readers: now, late, or
/// again. Bounded: the oldest output makes room for the newest, and a reader
/// that comes too late for it reads a note instead. Thread-safe; sinks are
/// called in order, one call at a time.
class event_log {
public:
  explicit event_log(const event_bounds& bounds = {});

  /// Adds one event and notifies all readers. After `end` nothing is added.
  void append(run_event_kind kind, std::string_view data = {});

  /// The last event; the second one is ignored.
  void end(std::shared_ptr<const run_result> result,
           std::shared_ptr<const error> failure);

  /// Events after `sequence`, then live ones, up to `end`. The sink is called
  /// before this returns for everything that is already there.
  /// Returns its number, 0 when the sink has seen all that it wants.
  std::uint64_t subscribe(std::uint64_t sequence, event_sink sink);
  /// Whether there are as many readers as a run may have.
  bool full() const;
  void unsubscribe(std::uint64_t subscription);

  bool ended() const;
  std::uint64_t last() const;
  std::size_t bytes() const;

private:
  void add(run_event event);
  void shrink();

  mutable std::mutex mutex_;
  const event_bounds bounds_;
  boost::circular_buffer<run_event> events_; // grows up to the bound
  std::map<std::uint64_t, event_sink> sinks_;
  std::uint64_t sequence_ = 0;
  std::uint64_t subscription_ = 0;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

} // namespace troupe
