#pragma once

#include "actors/protocol/messages.hpp"
#include "actors/protocol/sandbox_messages.hpp"
#include "actors/state/admission.hpp"
#include "actors/state/backend_registry.hpp"
#include "actors/state/engine_metrics.hpp"
#include "actors/state/ledger_queue.hpp"
#include "actors/state/run_registry.hpp"
#include "runtime/base/snapshot.hpp"
#include "runtime/engine/kept_files.hpp"

#include <caf/actor_clock.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace troupe {

struct engine_options;

/// The actors as they are now. Immutable: the supervisor publishes a new one.
struct routing {
  std::uint64_t version = 0;
  ledger_actor ledger;
  config_actor config;
  credential_actor credential;
  std::vector<dispatcher_actor> dispatchers;
  /// By the index of the backend's name, then by number.
  std::array<std::vector<executor_actor>, backend_name::most> executors;
  gateway_actor gate;
  sandbox_controller_actor sandboxes; // empty without a place for them
};
using routing_ptr = std::shared_ptr<const routing>;

/// What takes part in the life of every run: all of it atomic or behind its own
/// lock.
struct run_services {
  explicit run_services(const engine_options& options);

  admission admissions;
  run_registry runs;
  ledger_queue to_ledger;
  engine_metrics metrics;
  std::unique_ptr<backend_registry> backends; // set before there are actors
  snapshot<routing> routes;
  const std::shared_ptr<troupe::kept_files> kept_files; // null: none
  std::atomic<bool> draining{false};                    // new runs are refused
  std::atomic<bool> record_fails{false}; // what runs say cannot be kept now
  std::atomic<bool> disk_is_full{false}; // that is why

  /// For whatever begins or ends when some time has passed.
  active_run::clock::time_point now() const {
    return stepped_clock ? stepped_clock->now() : active_run::clock::now();
  }
  const caf::actor_clock* stepped_clock = nullptr; // null: as time goes by
};
using run_services_ptr = std::shared_ptr<run_services>;

/// Routes of the request router: 0 belongs to none, then one per dispatcher.
inline std::uint64_t route_of(std::uint32_t dispatcher) {
  return dispatcher + 1;
}

/// Adds to the ledger's queue and wakes it if it sleeps; false: it is full.
/// `kept`, if there is one, is called when it is on the disk.
bool enqueue_ledger_entry(run_services& services, ledger_entry&& line,
                          std::function<void(bool)> kept = {});

/// Ends a ticket; those that may start now are told. On any thread.
void give_place_back(run_services& services, admission::ticket& ticket);

/// Tells the readers of a run that it has ended, and keeps it for late ones.
void publish_end(run_services& services, const active_run_ptr& run);

/// Ends a run that has lost its dispatcher, or never reached one. If it has
/// ended already, its readers are told.
void abandon(run_services& services, const active_run_ptr& run, error why);

} // namespace troupe
