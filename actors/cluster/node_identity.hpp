#pragma once

#include <atomic>

namespace troupe {

/// Whether CAF took our random seed for this node's id. Asked once the actor
/// system is up: two nodes with one id lose each other's messages.
bool node_seed_was_used();
void note_node_seed();

} // namespace troupe
