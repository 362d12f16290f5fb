#pragma once

#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include <functional>
#include <vector>

namespace troupe::inside {

/// Tells what happens in a folder, and below it if the order says so, until
/// `socket` is closed or the folder is gone. `begun` is told once, with 0 or
/// with why nothing can be watched; then `told`. What cannot be told is told to
/// be missing, by `overflow`.
void watch_tree(const hand_message& order, int socket,
                const std::function<void(int)>& begun,
                const std::function<void(std::vector<hand_event>)>& told);

} // namespace troupe::inside
