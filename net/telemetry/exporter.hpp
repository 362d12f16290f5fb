#pragma once

#include "net/telemetry/span.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace troupe {
class watchdog;
} // namespace troupe

namespace troupe::net {

struct exporter_options {
  std::string endpoint;      // the collector; spans go to <endpoint>/v1/traces
  secret headers;            // "name=value,name=value", values percent-encoded
  std::size_t queue = 4'096; // spans; beyond they are dropped and counted
  std::size_t batch = 512;   // spans per request
  std::chrono::milliseconds pause{1'000};    // between two requests
  std::chrono::milliseconds timeout{10'000}; // of one request, with retries
  watchdog* watch = nullptr; // of the thread; outlives the exporter
};

/// Sends spans to a collector from its own thread. Nothing waits for it:
/// what does not fit is dropped, what fails is counted.
class span_exporter {
public:
  static result<std::unique_ptr<span_exporter>> open(exporter_options options);
  /// Sends what is queued, for at most `timeout`.
  ~span_exporter();
  span_exporter(const span_exporter&) = delete;
  span_exporter& operator=(const span_exporter&) = delete;

  void add(span s) noexcept;
  /// Counters in Prometheus' format.
  std::string metrics() const;

private:
  struct state;
  explicit span_exporter(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

} // namespace troupe::net
