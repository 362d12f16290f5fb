#pragma once

#include "actors/state/circuit_breaker.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/model/backend_name.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace troupe {

/// One backend, with what its runs have taught us about it.
struct backend_entry {
  using warning = std::function<void(std::string_view)>;

  backend_entry(std::shared_ptr<troupe::backend> backend_,
                breaker_options options, warning warn = {})
      : name{backend_->name()}, backend{std::move(backend_)}, breaker{options},
        warn_{std::move(warn)} {}
  const backend_name name;
  const std::shared_ptr<troupe::backend> backend;
  circuit_breaker breaker;
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint64_t> failures{0};

  /// Whether runs may go there: as it reports, unless its executors
  /// keep dying.
  result<void> ready(circuit_breaker::clock::time_point now) const;
  /// Of a run there, to the breaker; and to operators when that opens or closes
  /// the circuit.
  void succeeded(circuit_breaker::clock::time_point now);
  void failed(std::string_view why, circuit_breaker::clock::time_point now);
  void quarantine_until(std::chrono::steady_clock::time_point when) {
    doubted_until_ = when;
  }

private:
  const warning warn_;
  std::atomic<std::chrono::steady_clock::time_point> doubted_until_{};
};

/// Every backend of this engine. Made at start, then only read.
class backend_registry {
public:
  /// One backend per name; a second one of a name is an error.
  static result<std::unique_ptr<backend_registry>>
  make(const std::vector<std::shared_ptr<backend>>& backends,
       const breaker_options& options, const backend_entry::warning& warn = {});

  backend_entry* find(backend_name name) const {
    return entries_[name.index()].get();
  }
  std::vector<backend_name> names() const;

private:
  std::array<std::unique_ptr<backend_entry>, backend_name::most> entries_;
};

} // namespace troupe
