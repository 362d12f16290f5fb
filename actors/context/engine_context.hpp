#pragma once

#include "actors/caf/request_router.hpp"
#include "actors/context/engine_options.hpp"
#include "actors/protocol/messages.hpp"
#include "actors/state/backend_registry.hpp"
#include "actors/state/engine_metrics.hpp"
#include "actors/state/in_flight_counts.hpp"
#include "actors/state/ledger_queue.hpp"
#include "actors/state/snapshot.hpp"

#include <boost/asio/thread_pool.hpp>

#include <array>
#include <memory>
#include <vector>

namespace troupe {

/// Who is there now. Immutable: the supervisor publishes a new one.
struct routing {
  std::uint64_t version = 0;
  ledger_actor ledger;
  config_actor config;
  credential_actor credential;
  std::vector<dispatcher_actor> dispatchers;
  /// By backend kind, then by number.
  std::array<std::vector<executor_actor>, 6> executors;
  gateway_actor gate;
};
using routing_ptr = std::shared_ptr<const routing>;

/// What the actors of one engine share: everything in it is immutable, atomic
/// or behind its own lock.
struct engine_context {
  explicit engine_context(engine_options options_);

  const engine_options options;
  const std::string boot; // differs after every start
  std::unique_ptr<backend_registry> board;
  admission gate;
  run_registry runs;
  meters meter;
  ledger_queue to_ledger;
  published<catalog> config;
  published<routing> routes;
  std::atomic<bool> draining{false};
  std::atomic<std::uint32_t> linked_nodes{
    0}; // nodes that hang up when we drain
  std::atomic<std::uint32_t> pending{0};
  std::atomic<bool> record_fails{false}; // what runs say cannot be kept now
  troupe::crowd crowd;
  /// For work that would keep a dispatcher from others: big JSON.
  boost::asio::thread_pool background{1};
  std::unique_ptr<request_router> router;

  void report(std::string_view line) const {
    if (options.report)
      options.report(line);
  }
  /// The same of something that an operator should look after.
  void warn(std::string_view line) const {
    if (options.warn)
      options.warn(line);
    else
      report(line);
  }
};

using context_ptr = std::shared_ptr<engine_context>;

/// Routes of the router: 0 is nobody's, then one per dispatcher.
inline std::uint64_t route_of(std::uint32_t dispatcher) {
  return dispatcher + 1;
}

/// Adds to the ledger's queue and wakes it if it sleeps; false: it is full.
/// With `kept` somebody waits for it: it is called when it is on the disk.
bool enqueue_ledger_entry(engine_context& context, ledger_entry&& line,
                          std::function<void(bool)> kept = {});

/// Ends a stay; those that may start now are told. On any thread.
void give_place_back(engine_context& context, admission::stay& stay);

/// Tells the readers of a run that it has ended, and keeps it for late ones.
void publish_end(engine_context& context, const live_run_ptr& run);

/// Ends a run that nobody carries any more: its dispatcher died, or was never
/// reached. If it has ended, everybody is told.
void abandon(engine_context& context, const live_run_ptr& run, error why);

} // namespace troupe
