#pragma once

#include "actors/admission.hpp"
#include "actors/event_log.hpp"
#include "runtime/engine.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A run while it lives, and for a short while after: what the dispatcher that
/// owns it, its backend and its readers share.
struct live_run {
  using clock = std::chrono::steady_clock;

  live_run(caller who_, std::shared_ptr<const run_request> request_,
           const event_bounds& bounds)
      : id{request_->id}, who{std::move(who_)}, request{std::move(request_)},
        events{bounds} {}

  // -- said once, then only read ---------------------------------------------
  const run_id id;
  const caller who;
  const std::shared_ptr<const run_request> request;
  timestamp created_at{};
  clock::time_point began{};

  /// Which dispatcher has it; nobody's until one was chosen, so that the death
  /// of another one is none of its business.
  static constexpr std::uint32_t nobody = 0xffff'ffff;
  std::atomic<std::uint32_t> owner{nobody};

  // -- for everybody ---------------------------------------------------------
  event_log events;
  std::atomic<run_phase> phase{run_phase::queued};
  std::atomic<backend_kind> backend{backend_kind::local};
  std::atomic<bool> may_have_started{false};
  /// A cancel is urgent and may overtake the run that it is for.
  std::atomic<bool> cancel_wanted{false};

  /// Whether the caller is the one that ends it: exactly one ever is.
  bool claim_end() { return !ending_.exchange(true); }

  // -- written before `phase` becomes `ended`, read after --------------------
  std::shared_ptr<const run_result> outcome;
  std::shared_ptr<const error> failure;
  timestamp ended_at{};

  // -- the admission's -------------------------------------------------------
  admission::stay stay;

  // -- the ledger queue's: where the line of this run waits ------------------
  std::uint64_t line_round = 0;
  std::size_t line_index = 0;

private:
  std::atomic<bool> ending_{false};
};

using live_run_ptr = std::shared_ptr<live_run>;

/// What may be told about it now.
run_record describe(const live_run& run);

} // namespace troupe
