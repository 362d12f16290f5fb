#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/probe.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <string>

namespace troupe::warden {

/// Turns orders into plans, from what the host offers. Everything that does
/// not change from run to run is made once.
class plan_builder {
public:
  plan_builder() = default;
  explicit plan_builder(isolation::probe_report report);

  /// Why this order must not run here, or "".
  std::string refuse(const start_order& order) const;

  isolation::plan build(const start_order& order) const;

  const isolation::probe_report& report() const { return report_; }

private:
  isolation::probe_report report_;
  isolation::layer_set layers_;
  isolation::tree_plan tree_;
  std::vector<sock_filter> closed_filter_; // no internet
  std::vector<sock_filter> asking_filter_; // the broker decides
};

} // namespace troupe::warden
