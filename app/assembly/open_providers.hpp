#pragma once

#include "actors/context/engine_options.hpp"
#include "net/client/http_client.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "runtime/settings/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The providers that the settings switch on, and the credentials webhook:
/// one client and one thread for all of them.
class open_providers {
public:
  /// Opens them and hands them to the engine that is to be opened.
  static result<std::unique_ptr<open_providers>>
  open(const settings& s, std::shared_ptr<lease_book> leases,
       engine_options& into, watchdog& watch);
  open_providers(const open_providers&) = delete;
  open_providers& operator=(const open_providers&) = delete;
  /// Ends what still runs, within a bound.
  ~open_providers();

  /// What their client did, in Prometheus' text format.
  std::string metrics() const {
    return net::client_metrics(client_->counters());
  }

private:
  open_providers() = default;

  io_thread io_;
  watchdog::watched watched_;
  std::shared_ptr<net::http_client> client_;
  std::vector<std::shared_ptr<provider_backend>> all_;
};

} // namespace troupe
