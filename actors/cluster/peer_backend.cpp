#include "actors/cluster/peer_backend.hpp"

#include "actors/caf/request.hpp"
#include "actors/cluster/basp_adapter.hpp"
#include "actors/cluster/link_dialer.hpp"
#include "actors/cluster/link_monitor.hpp"
#include "actors/cluster/linked_peers.hpp"
#include "actors/cluster/node_identity.hpp"

#include <caf/io/middleman.hpp>

#include <algorithm>

namespace troupe {

// -- links --------------------------------------------------------------------

result<void> linked_peers::begin() {
  if (!has_random_node_id())
    return error{ec::internal, "this node has no unique id", {}, {}};
  broker_ = basp_broker_of(system_);
  start_follower();
  for (auto& n : nodes_)
    n->dialer = std::thread{[this, n = n.get()] { dial_loop(*n); }};
  return {};
}

result<gateway_actor> linked_peers::say_hello(gateway_actor gate) {
  result<gateway_actor> heard = gate;
  caf::scoped_actor self{system_};
  self->request(gate, options_.patience, hello_v, hello{})
    .receive(
      [&](const hello& them) {
        if (them.version != wire_version)
          heard = error{ec::invalid_request,
                        "it uses version " + std::to_string(them.version)
                          + " of the protocol, this node uses "
                          + std::to_string(wire_version)};
        else if (!options_.name.empty() && them.name == options_.name)
          heard = error{ec::conflict, "it has the same name as this node"};
        else if (is_stopping(them))
          heard = error{ec::unavailable, "it is stopping"};
      },
      [&](const caf::error& e) { heard = from_caf(e).within("handshake"); });
  return heard;
}

/// Dials until it is told to stop; whoever is gone is dialed again.
void linked_peers::dial_loop(node& n) {
  auto pause = options_.first_pause;
  for (;;) {
    auto link = outbound_link::open(n.host, n.port, options_.identity,
                                    options_.patience, options_.watch,
                                    options_.beats.silence);
    result<gateway_actor> met = error{ec::unavailable, ""};
    if (link)
      met = adopt_outbound(system_, broker_, (*link)->take_caf_socket(),
                           options_.patience);
    else
      met = link.error();
    if (met)
      met = say_hello(std::move(*met));
    if (!met && link) // that comes after the handshake
      if (auto why = (*link)->why_cut(); !why.empty())
        met = error{ec::denied, "connect to " + n.name + ": " + why};
    if (met) {
      pause = options_.first_pause;
      serve_link(n, std::move(*met));
      link->reset(); // at once: a node that stops waits for it
    }
    std::unique_lock lock{mutex_};
    if (!met) {
      const auto& why = met.error().text;
      if (n.trouble != why) // once, however often it is tried
        warn("cannot use node " + n.name + ": " + why);
      n.trouble = why;
    }
    n.dialed_at = clock::now() + pause;
    if (changed_.wait_for(lock, pause, [this] { return stopping_; }))
      return;
    pause = std::min(2 * pause, options_.longest_pause);
  }
}

/// From the first words to the end of the link.
void linked_peers::serve_link(node& n, gateway_actor gate) {
  {
    std::lock_guard guard{mutex_};
    n.lost = n.stopping = false;
  }
  auto watch = system_.spawn(link_watch, gate, router_, [this, &n] {
    std::lock_guard guard{mutex_};
    n.lost = true;
    changed_.notify_all();
  });
  if (options_.report)
    options_.report("node " + n.name + " is reached");
  std::uint32_t under_way = 0;
  bool lost = false;
  {
    std::unique_lock lock{mutex_};
    n.gate = gate;
    n.trouble.clear();
    changed_.notify_all();
    lock.unlock();
    ask_to_be_told(n, gate);
    lock.lock();
    // A node that stops waits until we hang up, which is when we have all its
    // answers: none gets lost on its way.
    changed_.wait(lock, [&] {
      return stopping_ || n.lost || (n.stopping && n.under_way == 0);
    });
    n.gate = gateway_actor{};
    n.trouble = n.stopping ? "it is stopping" : "the link was lost";
    under_way = n.under_way;
    lost = n.lost;
  }
  if (lost)
    warn("node " + n.name + ": the link was lost; " + std::to_string(under_way)
         + (under_way == 1 ? " run of this node was in progress there"
                           : " runs of this node were in progress there"));
  {
    // It must not look at a node that is gone.
    caf::scoped_actor self{system_};
    self->send_exit(watch, caf::exit_reason::user_shutdown);
    self->wait_for(watch);
  }
  router_->fail_route(
    n.route,
    to_caf({ec::timeout, "the link was lost; the run may have been executed"}));
}

/// The node answers when it is about to stop; one that knows no better answers
/// at once, and says nothing of it.
void linked_peers::ask_to_be_told(node& n, const gateway_actor& gate) {
  auto told = [this, &n](const result<hello>& them) {
    if (!them || !is_stopping(*them))
      return;
    {
      std::lock_guard guard{mutex_};
      n.stopping = true;
      changed_.notify_all();
    }
    if (options_.report)
      options_.report("node " + n.name + " is stopping and gets no more runs");
  };
  ask<hello>(*router_, n.route, gate, std::move(told), hello_v,
             hello_until_stop(options_.name));
}

std::size_t linked_peers::count_reached() const {
  return static_cast<std::size_t>(
    std::count_if(nodes_.begin(), nodes_.end(),
                  [](const auto& n) { return static_cast<bool>(n->gate); }));
}

std::size_t linked_peers::reached() const {
  std::lock_guard guard{mutex_};
  return count_reached();
}

bool linked_peers::wait_until_reached(
  std::size_t nodes, std::chrono::milliseconds patience) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, patience,
                           [&] { return count_reached() >= nodes; });
}

result<void> linked_peers::ready() const {
  std::lock_guard guard{mutex_};
  if (any_node(nodes_, clock::now()))
    return {};
  return no_node(nodes_, options_.runs_per_node, clock::now());
}

std::vector<backend_node> linked_peers::nodes() const {
  const auto now = clock::now();
  std::vector<backend_node> all;
  std::lock_guard guard{mutex_};
  for (const auto& n : nodes_) {
    const auto why = n->why_not(options_.runs_per_node, now);
    all.push_back({n->name, why.empty(), why.empty() ? "ready" : why,
                   std::string{to_string(n->breaker.look(now).circuit)},
                   n->under_way, n->answered, n->failed});
  }
  return all;
}

void linked_peers::stop() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
    changed_.notify_all();
  }
  for (auto& n : nodes_)
    if (n->dialer.joinable())
      n->dialer.join();
  stop_follower();
  router_->shutdown();
  broker_ = caf::actor{};
}

result<std::shared_ptr<peer_backend>> peer_backend::open(peer_options options) {
  peer_nodes nodes;
  for (const auto& seed : options.seeds) {
    auto n = std::make_unique<peer_node>(seed, options.breaker);
    if (auto read = read_seed(*n); !read)
      return read.error();
    n->route = nodes.size() + 1;
    nodes.push_back(std::move(n));
  }
  try {
    auto made
      = std::make_shared<linked_peers>(std::move(options), std::move(nodes));
    if (auto begun = made->begin(); !begun)
      return begun.error();
    return std::shared_ptr<peer_backend>{std::move(made)};
  } catch (const std::exception& e) {
    return error{ec::internal,
                 std::string{"connect to other nodes: "} + e.what()};
  }
}

} // namespace troupe
