#pragma once

#include "actors/protocol/messages.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

#include <caf/all.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The protocols of living sandboxes, a sentence per message. What is marked
/// INTERNAL comes from the actor itself, or from the threads of a place. All of
/// it stays inside the process.
namespace troupe {

class live_process;
struct sandbox_place;

using create_atom = caf::atom_constant<caf::atom("create")>;
using admit_atom = caf::atom_constant<caf::atom("admit")>;
using ready_atom = caf::atom_constant<caf::atom("ready")>;
using renew_atom = caf::atom_constant<caf::atom("renew")>;
using remove_atom = caf::atom_constant<caf::atom("remove")>;
using access_atom = caf::atom_constant<caf::atom("access")>;
using event_atom = caf::atom_constant<caf::atom("event")>;
using connect_atom = caf::atom_constant<caf::atom("connect")>;
using pause_atom = caf::atom_constant<caf::atom("pause")>;
using resume_atom = caf::atom_constant<caf::atom("resume")>;
using changed_atom = caf::atom_constant<caf::atom("changed")>;
using snapshot_atom = caf::atom_constant<caf::atom("snapshot")>;
using rollback_atom = caf::atom_constant<caf::atom("rollback")>;
using look_atom = caf::atom_constant<caf::atom("look")>;
using overdue_atom = caf::atom_constant<caf::atom("overdue")>;

inline constexpr create_atom create_v{};
inline constexpr admit_atom admit_v{};
inline constexpr ready_atom ready_v{};
inline constexpr renew_atom renew_v{};
inline constexpr remove_atom remove_v{};
inline constexpr access_atom access_v{};
inline constexpr event_atom event_v{};
inline constexpr connect_atom connect_v{};
inline constexpr pause_atom pause_v{};
inline constexpr resume_atom resume_v{};
inline constexpr changed_atom changed_v{};
inline constexpr snapshot_atom snapshot_v{};
inline constexpr rollback_atom rollback_v{};
inline constexpr look_atom look_v{};
inline constexpr overdue_atom overdue_v{};

// -- answers: a failure keeps its closer code, which CAF's errors have not ----

/// An answer that may be a failure.
template <class T>
struct sandbox_answer {
  std::shared_ptr<sandbox_result<T>> what;

  sandbox_answer() = default;
  sandbox_answer(T value)
      : what{std::make_shared<sandbox_result<T>>(std::move(value))} {}
  /// Of no error but one of a sandbox: a `result` tells others from an answer.
  template <std::same_as<sandbox_error> Error>
  sandbox_answer(Error why)
      : what{std::make_shared<sandbox_result<T>>(std::move(why))} {}
};

/// What a call about files needs: the place, and the sandbox's name there.
struct sandbox_access {
  const sandbox_place* place = nullptr; // as long as the engine
  std::shared_ptr<const sandbox_handle> box;
};

/// A snapshot, and what another sandbox like the one that it is of asks for.
struct taken_snapshot {
  snapshot_record_ptr record;
  std::shared_ptr<const sandbox_spec> parent;
};

using snapshot_answer = sandbox_answer<taken_snapshot>;
using record_answer = sandbox_answer<sandbox_record_ptr>;
using records_answer
  = sandbox_answer<std::shared_ptr<const page<sandbox_record_ptr>>>;
using process_answer = sandbox_answer<sandbox_program_ptr>;
using processes_answer
  = sandbox_answer<std::shared_ptr<const std::vector<sandbox_program_ptr>>>;
using access_answer = sandbox_answer<sandbox_access>;
using context_answer = sandbox_answer<sandbox_context_ptr>;
using contexts_answer
  = sandbox_answer<std::shared_ptr<const std::vector<sandbox_context_ptr>>>;
using cell_answer = sandbox_answer<sandbox_cell_ptr>;

// -- orders -------------------------------------------------------------------

struct create_order {
  caller who;
  std::shared_ptr<const sandbox_spec> spec;
};
struct list_order {
  organization_id organization;
  std::shared_ptr<const sandbox_filter> which;
};
struct renew_order {
  std::chrono::milliseconds timeout{0};
};
struct connect_order {
  std::optional<std::chrono::milliseconds> timeout; // nothing: its own
};
struct patch_order {
  std::shared_ptr<const sandbox_change> what;
};
struct snapshot_order {
  std::string name;
  bool temporary = false; // for one fork
};
struct rollback_order {
  std::string snapshot; // its id or its name
};
struct remove_order {
  sandbox_end why = sandbox_end::asked;
};
struct start_order {
  std::shared_ptr<const process_spec> what;
};
/// One of the sandbox's processes, by its id.
struct process_reference {
  std::string id;
};
struct saved_context; // actors/sandbox/saved_context.hpp
struct context_order {
  std::shared_ptr<const context_spec> what;
  std::shared_ptr<const saved_context> from; // that goes on; null: a new one
};
/// One of the sandbox's contexts, by its id; in a list: each.
struct context_reference {
  std::string id;
};
struct cell_order {
  context_choice where;
  std::shared_ptr<const cell_spec> what;
};
struct sandbox_reference {
  sandbox_id id;
};

/// INTERNAL: what a place has told about a sandbox.
struct place_event {
  enum class kind : std::uint8_t {
    recorded, // it may be made
    created,
    found, // where an engine before us had left it
    renewed,
    paused,
    resumed,
    snapped,
    rolled_back,
    networked, // it has another policy
    lost, // its place has lost it
    destroyed,
    begun, // a process
    ended, // a process
    context, // something is due at another time, or it is lost
  } what
    = kind::created;
  std::shared_ptr<const error> failure;
  std::shared_ptr<sandbox_creation> creation; // created
  std::chrono::milliseconds timeout{0};       // renewed
  std::shared_ptr<place_snapshot> snapshot;   // snapped
  std::string process; // begun, ended; found: its name at the place, or ""
};

/// INTERNAL: what a place has of what an engine before us had left there.
struct left_sandboxes {
  std::uint64_t place = 0;                                  // of the options
  std::shared_ptr<const std::vector<tagged_sandbox>> there; // null: no answer
};

// -- protocols ----------------------------------------------------------------

/// One sandbox: its state, its clocks, its processes.
using sandbox_actor = caf::typed_actor<
  // There is room: it is to be made.
  caf::reacts_to<admit_atom>,
  // Tells what is known of it.
  caf::replies_to<find_atom>::with<record_answer>,
  // The same, as soon as it runs or never will.
  caf::replies_to<ready_atom>::with<record_answer>,
  // Moves its end.
  caf::replies_to<renew_atom, renew_order>::with<record_answer>,
  // Sees to it that it runs, and counts as a use.
  caf::replies_to<connect_atom, connect_order>::with<record_answer>,
  // Changes what it is to be like from now on.
  caf::replies_to<change_atom, patch_order>::with<record_answer>,
  // Lets it stand still.
  caf::replies_to<pause_atom>::with<record_answer>,
  // Lets it go on.
  caf::replies_to<resume_atom>::with<record_answer>,
  // Takes a snapshot of its files.
  caf::replies_to<snapshot_atom, snapshot_order>::with<snapshot_answer>,
  // Puts the files of a snapshot in place of its own.
  caf::replies_to<rollback_atom, rollback_order>::with<record_answer>,
  // Ends it; answers when nothing is left.
  caf::replies_to<remove_atom, remove_order>::with<record_answer>,
  // Begins a process.
  caf::replies_to<start_atom, start_order>::with<process_answer>,
  // Finds a process.
  caf::replies_to<find_atom, process_reference>::with<process_answer>,
  // Lists the processes.
  caf::replies_to<list_atom>::with<processes_answer>,
  // Kills a process if need be, and forgets it.
  caf::replies_to<remove_atom, process_reference>::with<process_answer>,
  // Begins a context, which is not ready yet.
  caf::replies_to<start_atom, context_order>::with<context_answer>,
  // Queues a cell.
  caf::replies_to<start_atom, cell_order>::with<cell_answer>,
  // Finds a context.
  caf::replies_to<find_atom, context_reference>::with<context_answer>,
  // Lists the contexts.
  caf::replies_to<list_atom, context_reference>::with<contexts_answer>,
  // Ends a context.
  caf::replies_to<remove_atom, context_reference>::with<context_answer>,
  // Gives access to the files.
  caf::replies_to<access_atom>::with<access_answer>,
  // INTERNAL: its place has told something.
  caf::reacts_to<event_atom, place_event>,
  // The controller's clock: something may be due.
  caf::reacts_to<tick_atom>>;

/// Knows all sandboxes; says which is made when.
using sandbox_controller_actor = caf::typed_actor<
  // Takes a new one in.
  caf::replies_to<create_atom, create_order>::with<record_answer>,
  // Lists those of an organization.
  caf::replies_to<list_atom, list_order>::with<records_answer>,
  // A sandbox has another state.
  caf::reacts_to<changed_atom, sandbox_reference>,
  // INTERNAL: a place has told what is left there.
  caf::reacts_to<event_atom, left_sandboxes>,
  // INTERNAL: time to ask it once more.
  caf::reacts_to<look_atom, std::uint64_t>,
  // INTERNAL: time to look for what is due.
  caf::reacts_to<tick_atom>,
  // INTERNAL: the engine's stop waits for us no longer.
  caf::reacts_to<overdue_atom>>;

} // namespace troupe

#define TROUPE_SANDBOX_MESSAGES(X)                                             \
  X(troupe::record_answer)                                                     \
  X(troupe::records_answer)                                                    \
  X(troupe::process_answer)                                                    \
  X(troupe::processes_answer)                                                  \
  X(troupe::access_answer)                                                     \
  X(troupe::context_answer)                                                    \
  X(troupe::contexts_answer)                                                   \
  X(troupe::cell_answer)                                                       \
  X(troupe::create_order)                                                      \
  X(troupe::list_order)                                                        \
  X(troupe::renew_order)                                                       \
  X(troupe::connect_order)                                                     \
  X(troupe::patch_order)                                                       \
  X(troupe::snapshot_order)                                                    \
  X(troupe::snapshot_answer)                                                   \
  X(troupe::rollback_order)                                                    \
  X(troupe::remove_order)                                                      \
  X(troupe::start_order)                                                       \
  X(troupe::process_reference)                                                 \
  X(troupe::context_order)                                                     \
  X(troupe::context_reference)                                                 \
  X(troupe::cell_order)                                                        \
  X(troupe::sandbox_reference)                                                 \
  X(troupe::left_sandboxes)                                                    \
  X(troupe::place_event)

TROUPE_SANDBOX_MESSAGES(CAF_ALLOW_UNSAFE_MESSAGE_TYPE)
#undef TROUPE_SANDBOX_MESSAGES
