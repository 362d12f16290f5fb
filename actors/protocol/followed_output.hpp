#pragma once

#include "actors/protocol/wire.hpp"

#include <optional>
#include <vector>

/// How a node that sent a run elsewhere hears of it while it goes on. It asks
/// for what came after an event that it knows, the reply waits until there is
/// something, and then it asks again: never more than one batch is on its way,
/// so that a slow reader slows its own link down and nothing else.
namespace troupe {

/// Some events of a run that goes on.
struct followed_output {
  std::uint64_t next = 0; // what to ask for afterwards
  std::vector<run_event> events;
};

/// Asks `find` for the events after number `after`.
run_reference follow_run(const run_id& id, const organization_id& organization,
                         std::uint64_t after);
/// What the question asks for; none: it is a plain `find`.
std::optional<std::uint64_t> follows_after(const run_reference& which);

/// Whether another node wants to hear of it as it happens.
bool is_followed(run_event_kind kind);

void put_output(run_status_message& note, const followed_output& what);
/// None: the node knows nothing of following. What cannot be read ends the
/// following too, since the result will have all of the output once more.
std::optional<followed_output> output_of(const run_status_message& note);

} // namespace troupe
