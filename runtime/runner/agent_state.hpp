#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace troupe::script {

/// What a tool did to the agent state it was given.
struct state_change {
  std::string after_json;
  std::string patch_json = "[]"; // JSON Patch (RFC 6902) from before to after
};

/// Compares what went in with what came out, believing nothing of the latter.
///
/// A tool may change values. It may not change identities: `id` and `*_id`
/// members stay, and nothing that has an id appears, disappears or moves.
/// A record (the state itself, and every object with an id) keeps its members
/// and their types; null may become anything and the other way round. Other
/// objects and lists are free.
result<state_change> compare_agent_state(std::string_view before,
                                         std::string_view after);

} // namespace troupe::script
