#pragma once

#include "runtime/model/isolation.hpp"

#include <string>
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

/// Tries every layer in children of the caller, which must be single-threaded
/// (the warden). Takes some ten milliseconds.
probe_report probe_host();

std::string encode(const probe_report& report);
bool decode(std::string_view bytes, probe_report& report);

} // namespace troupe::isolation
