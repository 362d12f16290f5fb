#pragma once

#include "actors/protocol/messages.hpp"
#include "actors/state/circuit_breaker.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace troupe {

/// One other node, and what its answers have taught us about it. Not
/// thread-safe.
struct peer_node {
  using clock = circuit_breaker::clock;

  peer_node(std::string name_, breaker_options options)
      : name{std::move(name_)}, breaker{options} {}

  std::string host;
  std::uint16_t port = 0;
  const std::string name; // the seed
  std::uint64_t route = 0;
  gateway_actor gate; // empty: not reached
  std::string trouble = "not connected yet";
  clock::time_point dialed_at{}; // the next time
  bool lost = false;             // the link
  bool stopping = false;         // it said that it is about to stop
  std::uint32_t under_way = 0;
  std::uint64_t answered = 0;
  std::uint64_t failed = 0; // refused, or lost
  circuit_breaker breaker;
  std::thread dialer;

  /// Why it gets no run now; "": it may.
  std::string why_not(std::uint32_t most, clock::time_point now) const;
};

using peer_nodes = std::vector<std::unique_ptr<peer_node>>;

/// Of those that were not tried, one that wants to show that it is well again,
/// else the least loaded, with what we know of load; null: none.
peer_node* choose_node(const peer_nodes& nodes,
                       const std::vector<const peer_node*>& tried,
                       std::uint32_t most, peer_node::clock::time_point now);

/// Why none of them can take a run.
error no_node(const peer_nodes& nodes, std::uint32_t most,
              peer_node::clock::time_point now);

/// Whether any could take one, were there room.
bool any_node(const peer_nodes& nodes, peer_node::clock::time_point now);

/// `host:port` of a seed, into the node.
result<void> read_seed(peer_node& node);

} // namespace troupe
