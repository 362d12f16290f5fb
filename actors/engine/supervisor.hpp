#pragma once

#include "actors/context/engine_context.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Parent of all actors of an engine. It starts them in the order of `rank`,
/// monitors them, restarts those that die with growing pauses, and stops them
/// in reverse order. No run passes through it: it publishes the handles as a
/// snapshot (`engine_context::routes`), and the others send to those directly.
/// A death is announced to the dispatchers, which may be waiting for a reply.
struct supervisor_state {
  static constexpr auto name = "supervisor";
  using clock = std::chrono::steady_clock;

  /// Stopped from the last to the first, started from the first to the last.
  enum class shutdown_tier : std::uint8_t {
    ledger,
    service,
    executor,
    dispatcher,
    gate
  };

  struct child {
    std::string name;
    shutdown_tier tier = shutdown_tier::service;
    std::size_t slot = 0; // executor or dispatcher number
    backend_name backend = backend_kind::local;
    std::function<caf::actor()> spawn;
    caf::actor handle; // empty while it is dead
    clock::time_point started_at{};
    std::deque<clock::time_point> deaths; // within the window
    std::chrono::milliseconds pause{0};
  };

  supervisor_actor::pointer self = nullptr;
  context_ptr context;
  std::vector<child> children;
  std::uint64_t version = 0;
  bool stopping = false;

  void start_all();
  void start(child& c);
  void publish();
  void down(const caf::down_msg& m);
  void notify_death(child& c, const caf::actor_addr& who);
  void abandon_runs_of(const child& c);
  void restart(std::uint64_t index);
  void stop();
  void stop_next_tier();
  bool is_crash_looping(const child& c) const;
  component_health health() const;
};

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self,
           context_ptr context);

} // namespace troupe
