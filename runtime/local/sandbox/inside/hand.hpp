#pragma once

namespace troupe::inside {

/// The life of a hand: answers what comes over its socket and ends with it, or
/// when nothing has come for half a minute. It has the rights of the sandbox's
/// user and no descriptor of the engine's but that socket.
[[noreturn]] void run_hand(int socket) noexcept;

} // namespace troupe::inside
