#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// How much a run insists on.
enum class isolation_level : std::uint8_t {
  strict,      // fresh namespaces for every run
  standard,    // namespaces per slot, a slot belongs to one organization
  best_effort, // run even when a core layer is missing, and say so
  off,         // none: for trusted code and for benchmarks
};

/// The one order of levels: the stricter, the higher.
constexpr int strictness(isolation_level level) {
  switch (level) {
  case isolation_level::strict:
    return 3;
  case isolation_level::standard:
    return 2;
  case isolation_level::best_effort:
    return 1;
  case isolation_level::off:
    return 0;
  }
  return 0;
}

enum class layer_state : std::uint8_t { enforced, degraded, absent };

/// What was really in force for one layer, and why if it is less than all.
struct isolation_layer {
  std::string name; // "user_namespace", "seccomp", "cgroup_memory", ...
  layer_state state = layer_state::absent;
  std::string reason;

  friend bool operator==(const isolation_layer&, const isolation_layer&)
    = default;
};

struct isolation_report {
  isolation_level level = isolation_level::off;
  std::vector<isolation_layer> layers;

  friend bool operator==(const isolation_report&, const isolation_report&)
    = default;
};

} // namespace troupe
