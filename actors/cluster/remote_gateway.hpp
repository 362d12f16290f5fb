#pragma once

#include "actors/cluster/remote_queue.hpp"
#include "actors/cluster/run_followers.hpp"
#include "actors/context/engine_context.hpp"

#include <map>

namespace troupe {

/// With the messages that it sends to itself.
using inner_gateway_actor = gateway_actor::extend<
  // INTERNAL: there is room in front of the dispatchers again.
  caf::reacts_to<admitted_atom>,
  // INTERNAL: the engine is about to stop; answers when that has been sent to
  // all nodes that wait for it.
  caf::replies_to<gone_atom>::with<bool>,
  // INTERNAL: a run that another node follows has news.
  caf::reacts_to<find_atom, run_id>>;

/// What the remote gateway works with.
struct remote_gateway_services {
  remote_gateway_services() = default;
  remote_gateway_services(const context_ptr& engine);

  run_intake_ptr intake;
  hello us; // this node, as it is called
  isolation_level weakest = isolation_level::standard;
  std::shared_ptr<std::atomic<std::uint32_t>> linked; // how many nodes
};

/// The engine for remote callers: CAF clients and other nodes, whose messages
/// arrive over links. It admits a run as HTTP does (run_intake) and delegates
/// the request to a dispatcher or to the ledger, which reply to the caller
/// directly. Executions queue here, fairly by organization, only if they arrive
/// faster than dispatchers accept them: the network has no priorities, and a
/// mailbox no organizations.
struct gateway_state : remote_gateway_services {
  static constexpr auto name = "gateway";

  inner_gateway_actor::pointer self = nullptr;
  std::shared_ptr<flow_control> pressure = std::make_shared<flow_control>();
  remote_queue line;
  /// Other nodes that want to know when we are about to stop, and the answers
  /// to those that were not told. They hang up when they have what is theirs.
  std::map<caf::actor_addr, caf::typed_response_promise<hello>> linked_nodes;
  run_followers followers;
  bool stopping = false;

  // -- executions ------------------------------------------------------------
  template <class Answer, class Word>
  caf::result<Answer> receive(Word word, execution& what);
  template <class Answer, class Word>
  caf::result<Answer> forward(Word word, execution& what);
  void turn();
  void stop();

  // -- words between nodes ---------------------------------------------------
  caf::result<hello> greet(const hello& them);
  bool announce_stop();
  void forget(const caf::actor_addr& who);

  // -- questions -------------------------------------------------------------
  caf::result<run_status_message> cancel(const run_reference& which);
  caf::result<run_status_message> find(const run_reference& which);
  caf::result<run_status_message> follow(const run_reference& which,
                                         std::uint64_t after);

private:
  struct admitted {
    active_run_ptr run;
    dispatcher_actor to;
  };
  result<accepted_run> accept(execution& what);
  result<admitted> admit(execution& what);
  void forward_pending(remote_queue::pending_execution& v);
  hello stopping_node() const;
};

inner_gateway_actor::behavior_type
remote_gateway(inner_gateway_actor::stateful_pointer<gateway_state> self,
               remote_gateway_services services);

} // namespace troupe
