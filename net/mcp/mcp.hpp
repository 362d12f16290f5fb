#pragma once

#include "net/server/router.hpp"
#include "runtime/toolkit/toolkit_call.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

namespace troupe {
class engine;
class sandbox_engine;
} // namespace troupe

namespace troupe::net::mcp {

struct mcp_options {
  sandbox_engine* sandboxes = nullptr; // null: there are none here
  toolkit::call_rules rules;
  std::size_t body_limit = 16u << 20; // 8 MiB of a file in Base64 fit
  std::size_t calls_at_once = 32;     // of a key
  std::size_t streams = 2'000;        // that wait for changes, in all
  std::size_t streams_at_once = 16;   // of a key
  std::size_t sessions = 10'000;      // of the protocol
  std::chrono::minutes session_idle{60};
  /// Becomes true when the server is about to stop: streams end then. Null: it
  /// never says so.
  std::shared_ptr<const std::atomic<bool>> stopping{};
};

/// The tools of agents over the Model Context Protocol, at /mcp. `core` and
/// what the options point to outlive the server.
void add_mcp(router& routes, engine& core, mcp_options options = {});

} // namespace troupe::net::mcp
