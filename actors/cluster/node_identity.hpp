#pragma once

#include <atomic>

namespace troupe {

/// Whether CAF took our random seed for this node's id. Asked once the actor
/// system is up: two nodes with one id lose each other's messages.
bool has_random_node_id();
void note_node_seed();

} // namespace troupe
