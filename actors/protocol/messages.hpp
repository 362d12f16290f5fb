#pragma once

#include "actors/protocol/environment_layers.hpp"
#include "actors/protocol/wire.hpp"
#include "actors/state/active_run.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/engine.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Every protocol of the engine, a sentence per message. What is marked
/// INTERNAL comes from the actor itself, its helpers or its io threads.
namespace troupe {

struct resolved_run;

// -- words --------------------------------------------------------------------

using run_atom = caf::atom_constant<caf::atom("run")>;
using start_atom = caf::atom_constant<caf::atom("start")>;
using cancel_atom = caf::atom_constant<caf::atom("cancel")>;
using find_atom = caf::atom_constant<caf::atom("find")>;
using hello_atom = caf::atom_constant<caf::atom("hello")>;
using explain_atom = caf::atom_constant<caf::atom("explain")>;
using admitted_atom = caf::atom_constant<caf::atom("turn")>;
using gather_atom = caf::atom_constant<caf::atom("gather")>;
using kept_atom = caf::atom_constant<caf::atom("kept")>;
using claim_atom = caf::atom_constant<caf::atom("claim")>;
using ended_atom = caf::atom_constant<caf::atom("ended")>;
using done_atom = caf::atom_constant<caf::atom("done")>;
using gone_atom = caf::atom_constant<caf::atom("gone")>;
using tick_atom = caf::atom_constant<caf::atom("tick")>;
using flush_atom = caf::atom_constant<caf::atom("flush")>;
using change_atom = caf::atom_constant<caf::atom("change")>;
using health_atom = caf::atom_constant<caf::atom("health")>;
using list_atom = caf::atom_constant<caf::atom("list")>;
using restart_atom = caf::atom_constant<caf::atom("born")>;

inline constexpr run_atom run_v{};
inline constexpr start_atom start_v{};
inline constexpr cancel_atom cancel_v{};
inline constexpr find_atom find_v{};
inline constexpr hello_atom hello_v{};
inline constexpr explain_atom explain_v{};
inline constexpr admitted_atom turn_v{};
inline constexpr gather_atom gather_v{};
inline constexpr kept_atom kept_v{};
inline constexpr claim_atom claim_v{};
inline constexpr ended_atom ended_v{};
inline constexpr done_atom done_v{};
inline constexpr gone_atom gone_v{};
inline constexpr tick_atom tick_v{};
inline constexpr flush_atom flush_v{};
inline constexpr change_atom change_v{};
inline constexpr health_atom health_v{};
inline constexpr list_atom list_v{};
inline constexpr restart_atom born_v{};

// -- what stays inside the process --------------------------------------------
// CAF prints these as "<unprintable>": no source and no secret gets into a log.

/// One try of one run at one backend.
struct attempt {
  active_run_ptr run;
  prepared_run_ptr prepared;
  std::uint32_t number = 0;
  bool probe = false; // whether the backend is well again
};

/// How it ended.
struct attempt_result {
  active_run_ptr run;
  std::uint32_t number = 0;
  std::shared_ptr<run_outcome> outcome;
};

/// Asks for the variables of a run, without values of the run itself.
struct gather_request {
  active_run_ptr run;
  std::uint32_t number = 0;
  config_id config;
  std::string tool_name;
};

/// The layers that had to be looked up or unsealed.
struct gathered {
  active_run_ptr run;
  std::uint32_t number = 0;
  resolved_variables layers;
  std::shared_ptr<const error> failure;
};

/// A request whose arguments were bound on the background thread.
struct resolve_reply {
  active_run_ptr run;
  std::shared_ptr<result<resolved_run>> what;
};

/// What came of laying claim to an idempotency key.
struct key_claim_result {
  active_run_ptr run;
  bool fresh = false; // it is ours: go on
  std::shared_ptr<const run_record>
    before;                             // or it has run, and this came of it
  std::shared_ptr<const error> failure; // or why it must not run
};

/// One change of the configuration, with its caller.
struct change_request {
  caller who;
  std::shared_ptr<const catalog_change> what;
};
struct change_result {
  std::shared_ptr<const change_reply> reply;
};

struct explain_result {
  std::shared_ptr<const explanation> what;
};

/// Pages of what the ledger keeps.
struct run_list_query {
  organization_id organization;
  std::string after;
  std::size_t limit = 50;
};
struct run_list {
  std::shared_ptr<const page<run_record>> what;
};
struct audit_list_query {
  organization_id organization;
  std::uint64_t after = 0;
  std::size_t limit = 50;
};
struct audit_list {
  std::shared_ptr<const page<audit_entry>> what;
};

struct component_health {
  bool ready = false; // all actors that each run needs are alive and stable
  std::vector<std::pair<std::string, std::string>> components;
};

// -- protocols ----------------------------------------------------------------

/// The engine as another platform sees it, in this process or far away.
using gateway_actor = caf::typed_actor<
  // Runs a tool and answers. A failing tool is a result.
  caf::replies_to<run_atom, execution>::with<run_answer>,
  // Accepts a run that goes on without us.
  caf::replies_to<start_atom, execution>::with<run_status_message>,
  // Ends a run early; the note says what it was doing.
  caf::replies_to<cancel_atom, run_reference>::with<run_status_message>,
  // Tells what is known about a run.
  caf::replies_to<find_atom, run_reference>::with<run_status_message>,
  // Returns the name of this node.
  caf::replies_to<hello_atom, hello>::with<hello>>;

/// Takes runs through their life; one per core.
using dispatcher_actor = caf::typed_actor<
  // Runs and answers.
  caf::replies_to<run_atom, active_run_ptr>::with<run_answer>,
  // Answers as soon as the run cannot be lost without a trace.
  caf::replies_to<start_atom, active_run_ptr>::with<run_status_message>,
  // Ends a run of ours early.
  caf::replies_to<cancel_atom, active_run_ptr>::with<run_status_message>,
  // Tells what a run would do, without doing it.
  caf::replies_to<explain_atom, active_run_ptr>::with<explain_result>,
  // INTERNAL: a run that waited may go on.
  caf::reacts_to<admitted_atom, active_run_ptr>,
  // The credential actor found the variables of a run.
  caf::reacts_to<gather_atom, gathered>,
  // The ledger looked up an idempotency key.
  caf::reacts_to<claim_atom, key_claim_result>,
  // The ledger has put a run on the disk, or could not.
  caf::reacts_to<kept_atom, active_run_ptr, bool>,
  // A backend is done with an attempt.
  caf::reacts_to<ended_atom, attempt_result>,
  // INTERNAL: a run's arguments were bound on the background thread.
  caf::reacts_to<done_atom, resolve_reply>,
  // An actor died; a run may be waiting for its reply.
  caf::reacts_to<gone_atom, caf::actor_addr>,
  // INTERNAL: some deadline has passed.
  caf::reacts_to<tick_atom, std::uint64_t>>;

/// Carries out runs at one backend.
using executor_actor = caf::typed_actor<
  // Begins an attempt; the backend's `ended` goes to the sender, exactly once.
  caf::reacts_to<start_atom, attempt>,
  // Ends an attempt early. Unknown ones are ignored.
  caf::reacts_to<cancel_atom, run_id, exit_reason>>;

/// Knows the variables of a run.
using credential_actor = caf::typed_actor<
  // Finds the layers of a run; `gathered` goes to the sender.
  caf::reacts_to<gather_atom, gather_request>,
  // Finds what the webhook would give it: the names, without the values.
  caf::replies_to<explain_atom, gather_request>::with<gathered>,
  // INTERNAL: the webhook has answered, or has not.
  caf::reacts_to<done_atom, std::uint64_t,
                 std::shared_ptr<result<environment>>>,
  // INTERNAL: time to forget old answers (0), or to stop waiting for one.
  caf::reacts_to<tick_atom, std::uint64_t>>;

/// The only writer of the configuration.
using config_actor = caf::typed_actor<
  // Applies a change as a whole or not at all.
  caf::replies_to<change_atom, change_request>::with<change_result>>;

/// Keeps the record of every run and every change.
using ledger_actor = caf::typed_actor<
  // There is something to write; with `true` it is wanted now.
  caf::reacts_to<flush_atom, bool>,
  // INTERNAL: time to write what no caller waits for.
  caf::reacts_to<done_atom>,
  // INTERNAL: time to put on the disk for good what was written.
  caf::reacts_to<kept_atom>,
  // Lays claim to a run's idempotency key; `key_claim_result` goes to the
  // sender.
  caf::reacts_to<claim_atom, active_run_ptr>,
  // INTERNAL: time to look at some of the claims that wait.
  caf::reacts_to<claim_atom>,
  // INTERNAL: time to forget what has expired.
  caf::reacts_to<tick_atom>,
  // Finds a run that is no longer in memory.
  caf::replies_to<find_atom, run_reference>::with<run_status_message>,
  // Lists runs, the newest first.
  caf::replies_to<list_atom, run_list_query>::with<run_list>,
  // Lists the audit record.
  caf::replies_to<list_atom, audit_list_query>::with<audit_list>>;

/// Starts, monitors and restarts all actors.
using supervisor_actor = caf::typed_actor<
  // The health of all actors.
  caf::replies_to<health_atom>::with<component_health>,
  // INTERNAL: time to start a child again.
  caf::reacts_to<restart_atom, std::uint64_t>>;

} // namespace troupe

#define TROUPE_LOCAL_MESSAGES(X)                                               \
  X(troupe::active_run_ptr)                                                    \
  X(troupe::attempt)                                                           \
  X(troupe::attempt_result)                                                    \
  X(troupe::gather_request)                                                    \
  X(troupe::gathered)                                                          \
  X(troupe::resolve_reply)                                                     \
  X(troupe::key_claim_result)                                                  \
  X(troupe::change_request)                                                    \
  X(troupe::change_result)                                                     \
  X(troupe::explain_result)                                                    \
  X(troupe::run_list_query)                                                    \
  X(troupe::run_list)                                                          \
  X(troupe::audit_list_query)                                                  \
  X(troupe::audit_list)                                                        \
  X(troupe::component_health)                                                  \
  X(troupe::run_id)                                                            \
  X(troupe::exit_reason)                                                       \
  X(std::shared_ptr<troupe::run_outcome>)                                      \
  X(std::shared_ptr<troupe::result<troupe::environment>>)

TROUPE_LOCAL_MESSAGES(CAF_ALLOW_UNSAFE_MESSAGE_TYPE)
#undef TROUPE_LOCAL_MESSAGES

CAF_BEGIN_TYPE_ID_BLOCK(troupe, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(troupe, (troupe::execution))
CAF_ADD_TYPE_ID(troupe, (troupe::run_answer))
CAF_ADD_TYPE_ID(troupe, (troupe::run_reference))
CAF_ADD_TYPE_ID(troupe, (troupe::run_status_message))
CAF_ADD_TYPE_ID(troupe, (troupe::error_message))
CAF_ADD_TYPE_ID(troupe, (troupe::hello))
CAF_ADD_TYPE_ID(troupe, (troupe::gateway_actor))
CAF_END_TYPE_ID_BLOCK(troupe)
