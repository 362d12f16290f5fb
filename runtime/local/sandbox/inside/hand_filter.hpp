#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::inside {

/// What a hand calls from here on, and nothing else: it opens, lists, writes,
/// moves and removes files, and talks to the engine. Whatever a file's name or
/// content may make of it, it starts nothing, signals nothing, and makes no
/// socket.
isolation::outcome confine_hand() noexcept;

} // namespace troupe::inside
