#pragma once

#include "actors/engine/engine_host.hpp"
#include "app/assembly/engine_lock.hpp"
#include "app/assembly/open_providers.hpp"
#include "net/telemetry/exporter.hpp"
#include "net/telemetry/traced_engine.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/packages/environment_service.hpp"
#include "runtime/settings/settings.hpp"
#include "storage/maintenance/store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// What the program says that opens an engine, beside the settings.
struct assembly_options {
  /// Nothing is kept, and there are no packages: those need a place.
  bool in_memory = false;
  /// Carries out local runs in place of this machine's sandboxes. Null: those,
  /// where local.enabled says so.
  std::shared_ptr<backend> local;
  std::uint16_t publish_port = 0; // as in engine_options
  /// Somebody hands large output files out (`output_files`). Else they stay in
  /// their results.
  bool keeps_files = false;
  /// Lines for operators; null: the log.
  std::function<void(std::string_view)> report;
  std::function<void(std::string_view)> warn; // null: `report`
};

/// An engine with all that it stands on: store, local sandboxes, packages,
/// providers, other nodes, traces. Opened in order, stopped in reverse. `serve`
/// puts an HTTP server before it (app/daemon), a program its own code.
class assembled_engine {
public:
  using time_point = engine_host::time_point;

  /// `watch` outlives it.
  static result<std::unique_ptr<assembled_engine>>
  open(const settings& s, watchdog& watch, assembly_options options = {});
  assembled_engine(const assembled_engine&) = delete;
  assembled_engine& operator=(const assembled_engine&) = delete;
  ~assembled_engine();

  /// The engine as its users see it: traced, where there is an endpoint.
  troupe::engine& engine();
  engine_host& actors() { return *host_; }

  /// Of the data directory; held by none with `in_memory`.
  const engine_lock& lock() const { return lock_; }
  /// Null with `in_memory`.
  const std::shared_ptr<store>& storage() const { return store_; }
  const std::shared_ptr<configuration_store>& configuration() const {
    return configuration_;
  }
  /// Null without local sandboxes.
  environments* packages() { return packages_.get(); }
  /// Null without `keeps_files`.
  kept_files* output_files() { return kept_files_.get(); }
  io_thread* sockets() { return sockets_.get(); }

  /// Waits until the sandboxes of this machine are ready, or says why they
  /// cannot be; at once where there are other backends, or none of these.
  result<void> wait_until_ready() const;
  /// Waits until it is known what the local backend can do, if there is one.
  void wait_until_probed() const;

  /// Of providers, traces and the store, in Prometheus' text format.
  std::string metrics() const;

  /// Refuses new runs from now on; the others have until then.
  void drain(time_point until);
  /// Ends what runs and answers it. Called by the destructor, too.
  void stop();

private:
  assembled_engine() = default;
  result<void> open_local(const settings& s, watchdog& watch,
                          bool with_packages);
  result<void> open_store_of(const settings& s);
  result<void> open_actors(const settings& s, watchdog& watch,
                           assembly_options options);
  result<void> open_telemetry(const settings& s, watchdog& watch);

  // In the order of opening, so that even a half-opened one goes in reverse.
  engine_lock lock_;
  std::unique_ptr<io_thread> sockets_;
  watchdog::watched local_turns_;
  std::shared_ptr<kept_files> kept_files_;
  std::shared_ptr<local_backend> local_;
  std::shared_ptr<environment_builder> builder_;
  std::shared_ptr<environment_service> packages_;
  std::shared_ptr<backend> local_runs_; // with packages
  std::shared_ptr<store> store_;
  std::shared_ptr<configuration_store> configuration_;
  std::unique_ptr<open_providers> providers_;
  std::unique_ptr<engine_host> host_;
  watchdog::watched engine_answers_;
  std::unique_ptr<net::span_exporter> exporter_;
  std::unique_ptr<net::traced_engine> traced_;
  bool only_local_ = false; // no other backend
};

} // namespace troupe
