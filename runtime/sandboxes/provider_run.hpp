#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "runtime/sandboxes/stdout_frame_splitter.hpp"

#include <chrono>
#include <string>

namespace troupe {

/// One run on its way through a provider: what it printed so far, how it is
/// called off, and what comes of it.
class provider_run {
public:
  /// `key` marks the answer of this run (runtime/runner/stdout_frame.hpp).
  provider_run(prepared_run_ptr run, run_observer_ptr observer,
               const sandbox_provider& where, std::string key);

  const prepared_run& run() const { return *run_; }
  const prepared_run_ptr& shared_run() const { return run_; }
  const std::shared_ptr<cancellation>& abort() const { return abort_; }
  run_observer& observer() { return *observer_; }
  const std::string& key() const { return key_; }
  /// W3C: the run's own, else of a trace that begins here.
  const std::string& traceparent() const { return traceparent_; }

  /// Ends at the earlier of `limit` from now and the run's own deadline.
  call_scope scope(std::chrono::milliseconds limit) const;

  void cancel(exit_reason why);
  bool is_cancelled() const { return abort_->cancelled(); }

  /// Where it runs: after so many others.
  void follows(std::uint32_t earlier_runs) { earlier_runs_ = earlier_runs; }

  /// The provider has it from here on: its time counts.
  void hand_over();
  /// The tool has begun, or nobody can tell that it has not.
  void begun();
  void take_output(output_stream from, std::string_view bytes);

  /// The answer, once the remote process ended.
  run_outcome finish(const process_end& how);
  /// The answer when it did not: a limit, a call-off, or the provider's fault.
  /// Whether the tool may have begun is known better by now.
  run_outcome fail_with(error why, bool may_have_begun);

private:
  run_result result_so_far() const;
  void keep(output_stream from, std::string_view bytes);

  prepared_run_ptr run_;
  run_observer_ptr observer_;
  backend_name where_;
  std::vector<secret> secrets_;
  std::string provider_name_;
  std::string key_;
  std::string traceparent_;
  std::shared_ptr<cancellation> abort_ = std::make_shared<cancellation>();
  exit_reason cancel_reason_ = exit_reason::cancelled;
  stdout_frame_splitter stdout_;
  std::string out_;
  std::string err_;
  std::uint64_t out_bytes_ = 0;
  std::uint64_t err_bytes_ = 0;
  std::uint32_t earlier_runs_ = 0;
  bool handed_over_ = false;
  bool begun_ = false;
  std::chrono::steady_clock::time_point created_;
  std::chrono::steady_clock::time_point handed_over_at_;
};

} // namespace troupe
