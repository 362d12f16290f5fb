#pragma once

#include "actors/cluster/remote_queue.hpp"
#include "actors/context/engine_context.hpp"

#include <map>

namespace troupe {

/// What the gate is to itself.
using inner_gate_actor = gate_actor::extend<
  // INTERNAL: there is room in front of the dispatchers again.
  caf::reacts_to<admitted_atom>,
  // INTERNAL: the engine is about to stop; answers when that has been sent to
  // all who wait for it.
  caf::replies_to<gone_atom>::with<bool>>;

/// What the remote gateway works with.
struct gate_services {
  gate_services() = default;
  gate_services(const context_ptr& engine);

  run_intake_ptr intake;
  hello us; // this node, as it is called
  isolation_level weakest = isolation_level::standard;
  std::shared_ptr<std::atomic<std::uint32_t>> linked; // how many nodes
};

/// The engine as other actors see it, here or far away. It hands each message
/// to a dispatcher or to the ledger and is out of it. Only where executions
/// come faster than dispatchers take them do they wait here, in a fair line:
/// the network knows no urgency, and a mailbox no organizations.
struct gate_state : gate_services {
  static constexpr auto name = "gate";

  inner_gate_actor::pointer self = nullptr;
  std::shared_ptr<flow_control> pressure = std::make_shared<flow_control>();
  remote_queue line;
  /// Other nodes that want to know when we are about to stop, and the answers
  /// to those that were not told. They hang up when they have what is theirs.
  std::map<caf::actor_addr, caf::typed_response_promise<hello>> linked_nodes;
  bool stopping = false;

  // -- executions ------------------------------------------------------------
  template <class Answer, class Word>
  caf::result<Answer> arrive(Word word, execution& what);
  template <class Answer, class Word>
  caf::result<Answer> pass_on(Word word, execution& what);
  void turn();
  void stop();

  // -- words between nodes ---------------------------------------------------
  caf::result<hello> greet(const hello& them);
  bool announce_stop();
  void forget(const caf::actor_addr& who);

  // -- questions -------------------------------------------------------------
  caf::result<run_status_message> cancel(const run_reference& which);
  caf::result<run_status_message> find(const run_reference& which);

private:
  struct admitted {
    live_run_ptr run;
    dispatcher_actor to;
  };
  result<accepted_run> take_in(execution& what);
  result<admitted> admit(execution& what);
  void forward(remote_queue::visitor& v);
  hello stopping_node() const;
};

inner_gate_actor::behavior_type
gate(inner_gate_actor::stateful_pointer<gate_state> self,
     gate_services services);

} // namespace troupe
