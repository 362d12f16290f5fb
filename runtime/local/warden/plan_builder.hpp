#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/probe/probe.hpp"
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
  /// For a slot of a warm interpreter. A strict one gives every run a world of
  /// its own, where the host has all it takes.
  isolation::plan build_for_slot(const start_order& order) const;

  /// For a sandbox whose root layer is the directory `root`.
  isolation::plan build_for_sandbox(const start_order& order,
                                    const std::string& root) const;
  /// Why no sandbox can live here, or "".
  std::string refuse_sandbox(const start_order& order) const;

  const isolation::probe_report& report() const { return report_; }

private:
  isolation::probe_report report_;
  isolation::layer_set layers_;
  isolation::tree_plan tree_;
  /// Without the internet, and where the broker decides.
  struct filters {
    std::vector<sock_filter> closed;
    std::vector<sock_filter> asking;
  };
  filters ordinary_;
  filters namespace_making_;
  std::vector<sock_filter> run_filter_;
  filters living_; // of commands in sandboxes
};

} // namespace troupe::warden
