#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/engine/sandbox_records.hpp"
#include "runtime/model/sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace troupe {

/// Where sandboxes live: a provider, with the thread that it works on.
struct sandbox_place {
  backend_name name = backend_kind::local;
  std::shared_ptr<sandbox_provider> provider;
  boost::asio::any_io_executor executor;
  std::uint32_t limit = 100; // sandboxes at a time
  /// Of a sandbox that asks for none; absent: the engine's.
  std::optional<network_policy> network{};
};

struct sandbox_rules {
  using ms = std::chrono::milliseconds;

  std::uint32_t max = 1'000; // that live
  std::uint32_t max_per_organization = 100;
  std::uint32_t starting = 4; // at once
  std::uint32_t queue = 1'000;
  std::uint32_t queue_per_organization = 500;
  ms queue_timeout{30'000};
  ms timeout{300'000};        // of a sandbox that does not say
  ms max_life{86'400'000};    // from now, whatever is asked for
  ms session_idle{900'000};   // of a session's sandbox that does not say
  ms paused_for{3'600'000};   // then one that is paused ends
  ms notice{60'000};          // before its timeout is over, an event
  std::size_t events = 1'000; // kept of each sandbox
  ms kept{600'000};           // records of what is over, processes that ended
  std::uint32_t kept_per_organization = 200; // newest records of what is over
  std::uint32_t kept_records = 2'000;        // of all organizations
  std::uint32_t processes = 64;              // of a sandbox, at once
  std::uint32_t snapshots = 100;             // of an organization
  ms snapshot_timeout{60'000}; // of taking one, where much is copied
  std::uint32_t ended_processes = 100;
  std::uint32_t contexts = 16;           // of a sandbox
  std::uint32_t cell_queue = 64;         // cells that wait, of each context
  std::size_t window = 1u << 20;         // bytes of output, of each stream
  std::size_t ended_windows = 64u << 20; // of all processes that ended
  ms call_timeout{120'000};              // of a call about files
  ms look_again{5'000};  // for what outlived us, at a place that did not answer
  ms first_retry{1'000}; // of a deletion that failed; it doubles
  ms longest_retry{60'000};
  ms tick{250};
  ms stop_patience{5'000}; // for deletions when the engine stops
};

struct sandbox_options {
  using clock = std::chrono::steady_clock;

  std::vector<sandbox_place> places; // what names none goes to the first
  sandbox_rules rules;
  limits standard; // for what is not said
  limits ceiling = standard_ceiling();
  network_policy network;
  isolation_level isolation = isolation_level::standard;
  std::shared_ptr<sandbox_records> store; // null: nothing is kept
  std::function<clock::time_point()> now; // null: the steady clock
};

} // namespace troupe
