#pragma once

#include "runtime/local/isolation/cgroups.hpp"
#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"
#include "runtime/model/isolation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::isolation {

/// What this host can do about one layer, tried and not guessed.
struct probed_layer {
  std::string name;
  layer_state state = layer_state::absent;
  bool core = false;  // without it a run is refused, unless best effort
  std::string reason; // why it is less than enforced
  std::string advice; // what to do about it
};

struct probe_report {
  std::vector<probed_layer> layers;

  const probed_layer* find(std::string_view name) const;
  bool has(std::string_view name) const; // not absent
  /// "": every core layer is there. Else what is missing, and the way out.
  std::string missing_core() const;
};

struct probe_context {
  const cgroup_site* groups = nullptr;
  bool privileged = false; // may map any uid of the host
  uid_t uid = 0;           // an unused one, or the caller's
  gid_t gid = 0;
  /// Layers to treat as absent, by name: what a lesser host would be like.
  std::vector<std::string> without;
};

/// Tries every layer in children of the caller, which must be single-threaded.
/// Takes some ten milliseconds.
probe_report probe_host(const probe_context& context);

/// The layers that a report leaves over.
layer_set usable_layers(const probe_report& report);

std::string encode(const probe_report& report);
bool decode(std::string_view bytes, probe_report& report);

} // namespace troupe::isolation
