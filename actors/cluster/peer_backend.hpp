#pragma once

#include "actors/protocol/link_options.hpp"
#include "actors/state/circuit_breaker.hpp"
#include "runtime/engine/backend.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct peer_options {
  std::string name;               // ours: a seed of this name is this node
  std::vector<std::string> seeds; // host:port, as their certificates say
  link_identity identity;
  std::uint32_t runs_per_node = 256; // under way; beyond it: another node
  breaker_options breaker;           // each node has one
  link_heartbeats beats{};
  /// What a config says that names no sandbox_dir: nothing for another machine.
  std::string standard_dir;
  std::chrono::milliseconds patience{3'000}; // to dial and for the first words
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds longest_pause{10'000};
  std::function<void(std::string_view)> report; // on any thread
  std::function<void(std::string_view)> warn;   // the same, for what is wrong
  watchdog* watch = nullptr; // of the links' threads; outlives the backend
};

/// Other nodes as a backend: each run goes to the node with the fewest of ours
/// under way, with everything it needs, and is carried out there locally. What
/// a node refuses before it began goes to the next one. At most once: what was
/// sent and not answered reads `lost`, unless it may be done twice.
class peer_backend : public backend {
public:
  /// Dials all seeds, again and again, in the background.
  static result<std::shared_ptr<peer_backend>> open(peer_options options);

  backend_kind kind() const final { return backend_kind::peer; }
  /// Nodes that can take runs now.
  virtual std::size_t reached() const = 0;
  /// For tests and commands: until so many are reached, or false.
  virtual bool wait_until_reached(std::size_t nodes,
                                  std::chrono::milliseconds patience) const = 0;
};

/// A run for another node: nothing left for it to look up, and for its own
/// local backend, so that it goes no further.
run_request request_for_peer(const prepared_run& run);

/// What of the run's sandbox config only the machine that carries it out can
/// obey, as JSON. The rest is in the request.
std::string config_for_peer(const prepared_run& run,
                            const std::string& standard_dir);

} // namespace troupe
