#pragma once

#include "actors/caf/actor_system.hpp"
#include "actors/caf/request_router.hpp"
#include "actors/cluster/peer_backend.hpp"
#include "actors/cluster/peer_node.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace troupe {

/// The links to other nodes (peer_backend.cpp), the runs that go over them
/// (peer_runs.cpp), and what those say while they go on (peer_output.cpp).
class linked_peers final : public peer_backend,
                           public std::enable_shared_from_this<linked_peers> {
public:
  linked_peers(peer_options options, peer_nodes nodes)
      : options_{std::move(options)}, nodes_{std::move(nodes)} {}
  ~linked_peers() override { stop(); }

  result<void> begin();
  void start(prepared_run_ptr run, run_observer_ptr observer) override;
  void cancel(const run_id& id, exit_reason reason) override;
  result<void> ready() const override;
  std::vector<backend_node> nodes() const override;
  void stop() override;
  std::size_t reached() const override;
  bool wait_until_reached(std::size_t nodes,
                          std::chrono::milliseconds patience) const override;

private:
  using node = peer_node;
  using clock = peer_node::clock;
  struct forwarded {
    organization_id organization;
    node* to = nullptr; // has it now
    circuit_breaker::permit permit;
    std::vector<const node*> tried;
    std::vector<std::string> refusals; // of those before
    std::optional<exit_reason> wanted;
    // -- what it says while it goes on (peer_output.cpp)
    prepared_run_ptr run;
    run_observer_ptr observer;
    clock::time_point ask_at; // not before
    bool asked = false;       // a question is open
    bool telling = false;     // the observer hears of its reply just now
    bool follows = true;      // the node knows how to tell
    std::uint64_t heard = 0;  // the last event
    std::size_t told[2] = {}; // bytes of each stream
    std::optional<result<run_answer>> answer; // waits for the last output
  };

  void dial_loop(node& n);
  result<gateway_actor> say_hello(gateway_actor gate);
  void serve_link(node& n, gateway_actor gate);
  void ask_to_be_told(node& n, const gateway_actor& gate);
  void send(const prepared_run_ptr& run, const run_observer_ptr& observer);
  void answered(const prepared_run_ptr& run, const run_observer_ptr& observer,
                result<run_answer> given);
  void refused(const prepared_run_ptr& run, const run_observer_ptr& observer,
               error why);
  void start_follower();
  void stop_follower();
  void begin_following();
  bool follow_all();
  void follow(std::unique_lock<std::mutex>& lock, forwarded& f);
  void heard(const run_id& id, result<run_status_message> said);
  void ended(const prepared_run_ptr& run, const run_observer_ptr& observer,
             result<run_answer> given);
  void leave(node& n);
  void record_outcome(node& n, circuit_breaker::permit permit,
                      const error* why);
  std::size_t count_reached() const;
  void warn(const std::string& line) const {
    if (options_.warn)
      options_.warn(line);
    else if (options_.report)
      options_.report(line);
  }

  const peer_options options_;
  // One thread: it only forwards.
  system_config config_{1, true, nullptr, false, options_.beats.every};
  caf::actor_system system_{config_};
  std::shared_ptr<request_router> router_
    = std::make_shared<request_router>(system_);
  caf::actor broker_;
  caf::actor follower_;      // looks at the runs that go on
  mutable std::mutex mutex_; // for everything below
  mutable std::condition_variable changed_;
  const peer_nodes nodes_;
  std::unordered_map<run_id, forwarded> runs_;
  bool following_ = false; // the follower comes again by itself
  bool stopping_ = false;
};

} // namespace troupe
