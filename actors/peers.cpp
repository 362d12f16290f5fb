#include "actors/peers.hpp"

#include "actors/basp.hpp"
#include "actors/call.hpp"
#include "actors/dial.hpp"
#include "actors/link_watch.hpp"
#include "actors/node_seed.hpp"
#include "actors/router.hpp"
#include "actors/system.hpp"
#include "actors/wire_text.hpp"

#include <caf/io/middleman.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

namespace troupe {

namespace {

constexpr std::size_t peer_threads = 1; // of the scheduler; it only forwards

/// What the node said before it began: somebody else may run it.
bool never_began(const error& why) {
  switch (why.code) {
  case ec::exhausted:
  case ec::unavailable:
  case ec::invalid_request:
  case ec::not_found:
  case ec::conflict:
  case ec::denied:
    return true;
  case ec::timeout:
  case ec::internal:
    return false;
  }
  return false;
}

struct place {
  std::string host;
  std::uint16_t port = 0;
};

result<place> place_of(const std::string& seed) {
  const auto colon = seed.rfind(':');
  const auto wrong
    = bad_field("cluster.seeds", "'" + seed + "' is no host:port",
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
  return place{seed.substr(0, colon), static_cast<std::uint16_t>(port)};
}

class linked_peers final : public peers,
                           public std::enable_shared_from_this<linked_peers> {
public:
  linked_peers(peer_options options, std::vector<place> places)
      : options_{std::move(options)} {
    for (std::size_t i = 0; i < places.size(); ++i) {
      auto n = std::make_unique<node>();
      n->at = std::move(places[i]);
      n->name = options_.seeds[i];
      n->route = i + 1;
      nodes_.push_back(std::move(n));
    }
  }
  ~linked_peers() override { stop(); }

  result<void> begin();
  void start(prepared_run_ptr run, run_observer_ptr observer) override;
  void cancel(const run_id& id, exit_reason reason) override;
  result<void> ready() const override;
  void stop() override;
  std::size_t reached() const override;
  bool wait_until_reached(std::size_t nodes,
                          std::chrono::milliseconds patience) const override;

private:
  struct node {
    place at;
    std::string name;
    std::uint64_t route = 0;
    gate_actor gate; // empty: not reached
    std::string trouble = "not reached yet";
    bool lost = false;
    std::uint32_t under_way = 0;
    std::thread dialer;
  };
  struct forwarded {
    node* to = nullptr;
    organization_id organization;
    std::optional<exit_reason> wanted;
  };

  void keep(node& n);
  result<gate_actor> say_hello(gate_actor gate);
  void live_with(node& n, gate_actor gate);
  node* choose();
  error nobody() const;
  void answered(const prepared_run& run, run_observer& observer,
                result<run_answer> given);
  std::size_t count_reached() const;

  const peer_options options_;
  system_config config_{peer_threads, true};
  caf::actor_system system_{config_};
  std::shared_ptr<request_router> router_
    = std::make_shared<request_router>(system_);
  caf::actor broker_;
  mutable std::mutex mutex_; // for everything below
  mutable std::condition_variable changed_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::unordered_map<run_id, forwarded> runs_;
  bool stopping_ = false;
};

// -- links --------------------------------------------------------------------

result<void> linked_peers::begin() {
  if (!node_seed_was_used())
    return error{ec::internal, "this node has no id of its own", {}, {}};
  broker_ = basp_broker_of(system_);
  for (auto& n : nodes_)
    n->dialer = std::thread{[this, n = n.get()] { keep(*n); }};
  return {};
}

result<gate_actor> linked_peers::say_hello(gate_actor gate) {
  result<gate_actor> heard = gate;
  caf::scoped_actor self{system_};
  self->request(gate, options_.patience, hello_v, hello{})
    .receive(
      [&](const hello& them) {
        if (them.version != wire_version)
          heard = error{ec::invalid_request,
                        "it speaks version " + std::to_string(them.version)
                          + " of the protocol, we speak "
                          + std::to_string(wire_version)};
        else if (!options_.name.empty() && them.name == options_.name)
          heard = error{ec::conflict, "it is named as this node is"};
      },
      [&](const caf::error& e) { heard = from_caf(e).within("say hello"); });
  return heard;
}

/// Dials until it is told to stop; whoever is gone is dialed again.
void linked_peers::keep(node& n) {
  auto pause = options_.first_pause;
  for (;;) {
    auto link = dialed_link::open(n.at.host, n.at.port, options_.identity,
                                  options_.patience, options_.watch);
    result<gate_actor> met = error{ec::unavailable, ""};
    if (link)
      met = adopt_outbound(system_, broker_, (*link)->middleman_end(),
                           options_.patience);
    else
      met = link.error();
    if (met)
      met = say_hello(std::move(*met));
    if (met) {
      pause = options_.first_pause;
      live_with(n, std::move(*met));
    }
    std::unique_lock lock{mutex_};
    if (!met) {
      const auto& why = met.error().text;
      if (n.trouble != why && options_.report)
        options_.report("node " + n.name + " is not reached: " + why);
      n.trouble = why;
    }
    if (changed_.wait_for(lock, pause, [this] { return stopping_; }))
      return;
    pause = std::min(2 * pause, options_.longest_pause);
  }
}

/// From the first words to the end of the link.
void linked_peers::live_with(node& n, gate_actor gate) {
  auto watch = system_.spawn(link_watch, gate, router_, [this, &n] {
    std::lock_guard guard{mutex_};
    n.lost = true;
    changed_.notify_all();
  });
  if (options_.report)
    options_.report("node " + n.name + " is reached");
  {
    std::unique_lock lock{mutex_};
    n.gate = gate;
    n.trouble.clear();
    n.lost = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopping_ || n.lost; });
    n.gate = gate_actor{};
    n.trouble = "the link was lost";
  }
  {
    // It must not look at a node that is gone.
    caf::scoped_actor self{system_};
    self->send_exit(watch, caf::exit_reason::user_shutdown);
    self->wait_for(watch);
  }
  router_->fail_route(
    n.route,
    to_caf(
      {ec::timeout, "the link was lost; the run may have been carried out"}));
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
  if (count_reached() > 0)
    return {};
  return nobody();
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
  router_->shutdown();
  broker_ = caf::actor{};
}

// -- runs ---------------------------------------------------------------------

/// Under the lock: why no node can take a run.
error linked_peers::nobody() const {
  error why{count_reached() > 0 ? ec::exhausted : ec::unavailable,
            count_reached() > 0 ? "every node has as many runs as it may"
                                : "no node is reached"};
  for (const auto& n : nodes_)
    if (!n->trouble.empty())
      why.text += "; " + n->name + ": " + n->trouble;
  why.retry_after = std::chrono::milliseconds{1'000};
  return why;
}

/// Under the lock: the least loaded, with what we know of load.
linked_peers::node* linked_peers::choose() {
  node* best = nullptr;
  for (const auto& n : nodes_)
    if (n->gate && n->under_way < options_.runs_per_node
        && (!best || n->under_way < best->under_way))
      best = n.get();
  return best;
}

void linked_peers::start(prepared_run_ptr run, run_observer_ptr observer) {
  execution what;
  auto request = request_for_peer(*run);
  what.who.organization = run->organization;
  what.who.user = default_user();
  if (auto fits = check_fits_link(request); !fits)
    return observer->finished({fits.error(), false});
  what.request = std::make_shared<const run_request>(std::move(request));
  std::unique_lock lock{mutex_};
  auto* to = choose();
  if (!to) {
    auto why = nobody();
    lock.unlock();
    return observer->finished({std::move(why), false});
  }
  if (!runs_.try_emplace(run->id, forwarded{to, run->organization, {}})
         .second) {
    lock.unlock();
    return observer->finished(
      {error{ec::conflict, "run " + run->id.str() + " is under way"}, false});
  }
  ++to->under_way;
  const auto gate = to->gate;
  lock.unlock();
  const way by{to->route, caf::message_priority::normal,
               run->deadline + answer_slack};
  observer->progress("sent to node " + to->name);
  auto finish = [self = shared_from_this(), run = std::move(run),
                 observer = std::move(observer)](result<run_answer> answer) {
    self->answered(*run, *observer, std::move(answer));
  };
  ask<run_answer>(*router_, by, gate, std::move(finish), run_v,
                  std::move(what));
}

void linked_peers::answered(const prepared_run& run, run_observer& observer,
                            result<run_answer> given) {
  forwarded was;
  {
    std::lock_guard guard{mutex_};
    auto n = runs_.extract(run.id);
    was = std::move(n.mapped());
    --was.to->under_way;
  }
  auto answer = result_of(std::move(given));
  if (!answer) {
    const bool began = !never_began(answer.error());
    auto why = std::move(answer.error()).within("node " + was.to->name);
    return observer.finished({std::move(why), began});
  }
  auto r = **answer;
  r.notes.push_back("carried out by node " + was.to->name);
  // It says `cancelled`, which is how we asked it, and not why.
  if (was.wanted && r.reason == exit_reason::cancelled)
    r.reason = *was.wanted;
  if (!r.stdout_text.empty())
    observer.output(output_stream::out, r.stdout_text);
  if (!r.stderr_text.empty())
    observer.output(output_stream::err, r.stderr_text);
  observer.finished({std::move(r), true});
}

void linked_peers::cancel(const run_id& id, exit_reason reason) {
  std::unique_lock lock{mutex_};
  auto i = runs_.find(id);
  if (i == runs_.end())
    return;
  i->second.wanted = reason;
  run_reference which;
  which.id = id.str();
  which.organization = i->second.organization.str();
  const auto gate = i->second.to->gate;
  const auto route = i->second.to->route;
  lock.unlock();
  if (gate)
    ask<run_note>(
      *router_, route, gate, [](const result<run_note>&) {}, cancel_v,
      std::move(which));
}

} // namespace

result<std::shared_ptr<peers>> peers::open(peer_options options) {
  std::vector<place> places;
  for (const auto& seed : options.seeds) {
    auto at = place_of(seed);
    if (!at)
      return at.error();
    places.push_back(std::move(*at));
  }
  try {
    auto made
      = std::make_shared<linked_peers>(std::move(options), std::move(places));
    if (auto begun = made->begin(); !begun)
      return begun.error();
    return std::shared_ptr<peers>{std::move(made)};
  } catch (const std::exception& e) {
    return error{ec::internal, std::string{"meet other nodes: "} + e.what()};
  }
}

} // namespace troupe
