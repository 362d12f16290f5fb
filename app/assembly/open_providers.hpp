#pragma once

#include "actors/context/engine_options.hpp"
#include "net/providers/remote_backend.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/settings/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The providers that the settings switch on, and the credentials webhook:
/// one client and one thread for all of them.
class remote_backends {
public:
  /// Opens them and hands them to the engine that is to be opened.
  static result<std::unique_ptr<remote_backends>>
  open(const settings& s, std::shared_ptr<lease_book> leases,
       engine_options& into, watchdog& watch);
  remote_backends(const remote_backends&) = delete;
  remote_backends& operator=(const remote_backends&) = delete;
  /// Ends what still runs, within a bound.
  ~remote_backends();

  /// What their client did, in Prometheus' text format.
  std::string metrics() const {
    return net::client_metrics(client_->counters());
  }

private:
  remote_backends() = default;

  io_thread io_;
  watchdog::watched watched_;
  std::shared_ptr<net::http_client> client_;
  std::vector<std::shared_ptr<net::remote_backend>> all_;
};

} // namespace troupe
