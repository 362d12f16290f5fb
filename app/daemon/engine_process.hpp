#pragma once

#include "runtime/async/watchdog.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/layers.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Everything in a serving process, from settings to listener: the store, the
/// local backend, providers, the engine and the HTTP server, opened in this
/// order and stopped in reverse. A stop that takes longer than the drain
/// timeout and some seconds ends the process: an orchestrator would, with less
/// explanation.
class engine_process {
public:
  /// `watch`: what the watchdog does besides what the settings say.
  static result<std::unique_ptr<engine_process>>
  open(const configuration& what, watchdog_options watch = {});
  engine_process(const engine_process&) = delete;
  engine_process& operator=(const engine_process&) = delete;
  ~engine_process();

  /// "http://host:port" for each listener, or https, for people.
  std::vector<std::string> urls() const;
  /// `host:port` for each listener.
  std::vector<std::string> addresses() const;
  /// Where other nodes and platforms may connect; 0: nowhere.
  std::uint16_t link_port() const;
  /// Reads certificate and key of TLS again; without TLS there is nothing to.
  result<void> reload();
  /// Finishes what has begun, within the drain timeout; then lets go of
  /// everything. Called once.
  void stop();

private:
  struct parts;
  explicit engine_process(std::unique_ptr<parts> p);
  std::unique_ptr<parts> parts_;
};

} // namespace troupe
