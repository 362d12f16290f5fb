#pragma once

#include "actors/state/admission.hpp"
#include "actors/state/event_log.hpp"
#include "runtime/engine/engine.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A run while it lives, and for a short while after: what the dispatcher that
/// owns it, its backend and its readers share.
struct active_run {
  using clock = std::chrono::steady_clock;

  active_run(caller who_, std::shared_ptr<const run_request> request,
             const event_bounds& bounds)
      : id{request->id}, id_hash{std::hash<run_id>{}(id)}, who{std::move(who_)},
        tool_name{request->tool_name}, agent_id{request->agent_id},
        idempotency_key{request->idempotency_key}, labels{request->labels},
        events{bounds}, request_{std::move(request)} {}

  // -- said once, then only read ---------------------------------------------
  const run_id id;
  const std::size_t id_hash;
  const caller who;
  const std::string tool_name; // what is still told when the request is gone
  const std::string agent_id;
  const std::string idempotency_key;
  const std::map<std::string, std::string> labels;
  /// Another node sends it, complete: no variable of ours is for it, and this
  /// is its config (JSON).
  std::optional<std::string> sent_config;
  /// It came over a link, where no URL of ours leads: its answer is whole.
  bool is_linked = false;
  timestamp created_at{};
  clock::time_point began{};

  /// Which dispatcher has it; none until one was chosen, so that the death
  /// of another one is none of its business.
  static constexpr std::uint32_t nobody = 0xffff'ffff;
  std::atomic<std::uint32_t> owner{nobody};

  // -- for all threads -------------------------------------------------------
  event_log events;
  std::atomic<run_phase> phase{run_phase::queued};
  std::atomic<backend_name> backend{backend_kind::local};
  std::atomic<bool> may_have_started{false};
  /// It was let in. What never was leaves no record.
  std::atomic<bool> admitted{false};
  /// A cancel is urgent and may overtake the run that it is for.
  std::atomic<bool> cancel_wanted{false};

  /// What is to be run; null after the end. Any caller but the dispatcher that
  /// owns it takes it once and looks.
  std::shared_ptr<const run_request> request() const { return request_.load(); }
  /// Called by the one that ended it: frees the source and the arguments before
  /// late readers are gone.
  void forget_request() { request_.store(nullptr); }

  /// Whether the caller is the one that ends it: exactly one ever is.
  bool claim_end() { return !ending_.exchange(true); }
  /// The same for the one that announces it, which may be later.
  bool claim_notification() { return !told_.exchange(true); }
  bool is_notified() const { return told_; }

  // -- written before `phase` becomes `ended`, read after --------------------
  std::shared_ptr<const run_result> outcome;
  std::shared_ptr<const error> failure;
  timestamp ended_at{};

  // -- its executor's: the attempt that it last gave to the backend ----------
  std::atomic<std::uint32_t> begun_attempt{0};

  // -- the admission's -------------------------------------------------------
  admission::ticket ticket;

  // -- the ledger's: whether it has tried to write something of the run ------
  bool recorded = false;

  // -- the ledger queue's: where the line of this run waits ------------------
  std::uint64_t line_round = 0;
  std::size_t line_index = 0;

private:
  std::atomic<std::shared_ptr<const run_request>> request_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> told_{false};
};

using active_run_ptr = std::shared_ptr<active_run>;

/// What may be told about it now.
run_record describe(const active_run& run);

} // namespace troupe
