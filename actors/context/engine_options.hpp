#pragma once

#include "actors/protocol/link_options.hpp"
#include "actors/state/admission.hpp"
#include "actors/state/circuit_breaker.hpp"
#include "actors/state/event_log.hpp"
#include "actors/state/run_policy.hpp"
#include "actors/state/run_registry.hpp"
#include "actors/state/sandbox_options.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/configuration_store.hpp"
#include "runtime/engine/credential_source.hpp"
#include "runtime/engine/journal.hpp"
#include "runtime/engine/kept_files.hpp"
#include "runtime/engine/schema_deriver.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct deadline_rules {
  /// What a run gets on top of its wall limit for waiting and preparing.
  std::chrono::milliseconds allowance{600'000}; // a large pip install
  std::chrono::milliseconds longest{6 * 3'600'000};
  /// How long a backend may take to end a run that it was told to end.
  std::chrono::milliseconds grace{2'000};
};

struct credential_rules {
  enum class on_error : std::uint8_t { fail, empty };
  on_error when_webhook_fails = on_error::empty; // as Letta does
  std::chrono::milliseconds webhook_timeout{10'000};
  std::chrono::milliseconds keep_for{30'000}; // 0: ask every time
  std::size_t kept = 10'000;
};

struct ledger_rules {
  enum class when_full : std::uint8_t { refuse, drop };
  /// Refuse new runs rather than run them without a record.
  when_full policy = when_full::refuse;
  std::size_t waiting_entries = 65'536;
  std::size_t waiting_bytes = 256u << 20;
  /// Of a run; a larger one is not kept with its record.
  std::size_t request_bytes = 64u << 10;
  /// Nobody waits for most lines. A run that ends meanwhile is written once,
  /// and one write of many lines costs little more than one of one.
  std::chrono::milliseconds coalesce{50};
  std::size_t hurry_at = 256; // lines: then at once, so that bursts stay short
  /// What nobody waits for outlives the process when it is written, and a power
  /// cut when this has passed as well.
  std::chrono::milliseconds sync_after{250};
};

struct supervision_rules {
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds longest_pause{30'000};
  std::uint32_t deaths = 5; // within the window: say "failing"
  std::chrono::milliseconds window{60'000};
};

/// Schemas that are read out of sources, each in a process of up to 384 MiB.
/// Each counts as a run of its organization, too.
struct derivation_rules {
  std::uint32_t running_per_organization = 2;
  std::uint32_t waiting_per_organization = 32;
};

struct engine_options {
  std::string name = "troupe"; // of this node
  /// Of the scheduler; 0: one per two cores. The others are for the ledger, for
  /// sockets and for the tools, which all have more to do.
  std::uint32_t threads = 0;
  std::uint32_t dispatchers = 0;           // 0: one per thread
  std::uint32_t executors_per_backend = 0; // 0: one per thread
  std::vector<std::shared_ptr<backend>> backends;
  /// Of the local backend: the engine's first thread takes its place. Outlives
  /// the engine. Null: none.
  io_thread* sockets = nullptr;
  std::shared_ptr<configuration_store> configuration; // null: in memory
  std::shared_ptr<troupe::journal> journal;           // null: in memory
  std::shared_ptr<credential_source> webhook;         // null: none
  std::shared_ptr<schema_deriver> deriver;            // null: none

  admission_limits admission;
  /// Requests in any state; beyond it nothing is even looked at.
  std::uint32_t pending = 200'000;
  event_bounds events;
  registry_bounds registry;
  breaker_options breaker;
  derivation_rules derivations;
  run_rules rules;
  deadline_rules deadlines;
  credential_rules credentials;
  ledger_rules ledger;
  supervision_rules supervision;
  sandbox_options sandboxes;
  /// Of large output files; null: they stay in their results.
  std::shared_ptr<troupe::kept_files> kept_files;
  std::chrono::milliseconds drain_timeout{30'000};
  /// For tests: no actor has a thread of its own, each moves when CAF's test
  /// coordinator is told to, and so does time.
  bool stepped = false;

  /// For platforms and nodes that prove who they are; off by default.
  std::optional<link_options> links;
  /// For tests and programs of this machine: anybody who reaches it may run
  /// anything. Loopback only, off by default.
  std::uint16_t publish_port = 0;
  std::string publish_address = "127.0.0.1";

  /// One line for operators; called on any thread.
  std::function<void(std::string_view)> report;
  /// The same of what an operator should look after; null: `report`.
  std::function<void(std::string_view)> warn;
};

} // namespace troupe
