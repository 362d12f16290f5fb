#include "actors/cluster/peer_node.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

std::string next_try(peer_node::clock::duration left) {
  return ", next try in "
    + std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count())
    + " s";
}

constexpr auto without_bound = std::numeric_limits<std::uint32_t>::max();

} // namespace

std::string peer_node::why_not(std::uint32_t most,
                               clock::time_point now) const {
  if (!gate)
    return dialed_at > now ? trouble + next_try(dialed_at - now) : trouble;
  if (stopping)
    return "it is stopping";
  if (const auto seen = breaker.look(now);
      seen.circuit != circuit_breaker::state::closed && seen.is_sick())
    return why_passed_over(seen);
  if (under_way >= most)
    return "it is at its limit of concurrent runs";
  return {};
}

peer_node* choose_node(const peer_nodes& nodes,
                       const std::vector<const peer_node*>& tried,
                       std::uint32_t most, peer_node::clock::time_point now) {
  auto is_probe = [&](const peer_node& n) {
    return n.breaker.look(now).circuit != circuit_breaker::state::closed;
  };
  peer_node* best = nullptr;
  bool best_probes = false;
  for (const auto& n : nodes) {
    if (!n->why_not(most, now).empty()
        || std::ranges::find(tried, n.get()) != tried.end())
      continue;
    const bool probes = is_probe(*n);
    if (!best || probes > best_probes
        || (probes == best_probes && n->under_way < best->under_way)) {
      best = n.get();
      best_probes = probes;
    }
  }
  return best;
}

error no_node(const peer_nodes& nodes, std::uint32_t most,
              peer_node::clock::time_point now) {
  const bool full = any_node(nodes, now);
  error why{full ? ec::exhausted : ec::unavailable, "no node accepts runs"};
  for (const auto& n : nodes)
    if (auto reason = n->why_not(most, now); !reason.empty())
      why.text += "; " + n->name + ": " + reason;
  why.retry_after = std::chrono::milliseconds{1'000};
  return why;
}

bool any_node(const peer_nodes& nodes, peer_node::clock::time_point now) {
  return std::ranges::any_of(nodes, [&](const auto& n) {
    return n->why_not(without_bound, now).empty();
  });
}

result<void> read_seed(peer_node& node) {
  const auto& seed = node.name;
  const auto colon = seed.rfind(':');
  const auto wrong
    = bad_field("cluster.seeds", "'" + seed + "' is not host:port",
                "such as node-2.example.org:8284");
  if (colon == std::string::npos || colon == 0)
    return wrong;
  const auto digits = std::string_view{seed}.substr(colon + 1);
  unsigned port = 0;
  for (char c : digits)
    if (c < '0' || c > '9' || (port = port * 10 + unsigned(c - '0')) > 65'535)
      return wrong;
  if (port == 0)
    return wrong;
  node.host = seed.substr(0, colon);
  node.port = static_cast<std::uint16_t>(port);
  return {};
}

} // namespace troupe
