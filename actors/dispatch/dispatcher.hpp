#pragma once

#include "actors/context/engine_context.hpp"
#include "actors/dispatch/run_resolver.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Owns a run from admission to its answer. The actor engine and the remote
/// gateway send it runs. It asks the credential actor for variables, an
/// executor for each attempt and the ledger for the record, and handles
/// deadlines, cancellation and failover. A stage is a member function that ends
/// in a message, in the next stage, or in `conclude`, the only place that
/// answers. `stage` is the state of a run between two messages.
struct dispatcher_state {
  static constexpr auto name = "dispatcher";
  using clock = active_run::clock;

  enum class stage : std::uint8_t {
    resolving, // the arguments are bound elsewhere
    booking,   // the ledger looks up the key, or writes down that it begins
    waiting,   // for a turn
    gathering, // variables
    parked,    // its executor is being started again
    running,   // an executor has it
    settling,  // it has ended; the answer waits until its key holds it
  };

  struct job {
    live_run_ptr run;
    std::shared_ptr<const run_request> request;
    stage at = stage::resolving;
    caf::typed_response_promise<run_answer> answer;
    caf::typed_response_promise<run_status_message> accepted; // detached
    bool keyed = false; // the only one here with its idempotency key
    bool detached = false;
    bool its_turn = false; // came while it was still being booked

    catalog_ptr config; // one picture for the whole run
    resolved_run resolved;
    backend_plan plan;
    std::size_t candidate = 0;
    std::uint32_t number = 0; // of the attempt
    config_view_ptr view;
    std::shared_ptr<prepared_run> prepared;
    executor_actor executor;
    caf::actor_addr helper;     // who is to answer: its death is our business
    circuit_breaker::pass pass; // what came of it is still to be told

    std::vector<failover_step> trail;
    std::vector<run_stage> stages;
    std::vector<std::string> notes;
    std::vector<std::string> lowered; // limits, for this backend
    clock::time_point stage_began{};
    clock::time_point deadline{};
    std::optional<std::multimap<clock::time_point, live_run_ptr>::iterator>
      alarm;
    std::optional<exit_reason> asked_to_end; // cancelled or wall_timeout
  };

  dispatcher_actor::pointer self = nullptr;
  context_ptr context;
  std::uint32_t index = 0;
  std::unordered_map<const active_run*, job> jobs;
  std::multimap<clock::time_point, live_run_ptr> alarms;
  clock::time_point armed_for = clock::time_point::max();
  std::uint64_t alarm_generation = 0;
  /// Keys of runs that go on right now: the ledger need not be asked.
  std::map<std::pair<organization_id, std::string>, live_run_ptr> keys;

  config_views views;
  tool_views tools;
  published<routing>::seen routes; // as this actor saw them last
  published<catalog>::seen config;

  // -- from outside ----------------------------------------------------------
  caf::result<run_answer> run(live_run_ptr& what);
  caf::result<run_status_message> start(live_run_ptr& what);
  caf::result<run_status_message> cancel(const live_run_ptr& run);
  caf::result<explain_result> explain(const live_run_ptr& what);
  void gone(const caf::actor_addr& who);
  void tick(std::uint64_t generation);
  void stop();

  // -- the stages ------------------------------------------------------------
  job* accept_run(live_run_ptr& what, bool detached, error& why);
  void begin(job& j);
  void resolve_now(job& j);
  void resolved(job& j, result<resolved_run> what);
  void book(job& j);
  void claimed(const key_claim_result& reply);
  void kept(const live_run_ptr& run, bool well);
  void booked(job& j);
  void turn(job& j);
  void try_next_backend(job& j);
  void say_passed_over(job& j, backend_kind kind, std::string why);
  std::chrono::milliseconds next_try(const job& j) const;
  void gathered(const troupe::gathered& found);
  void gather(job& j);
  void launch(job& j, const resolved_variables& found);
  void hand_over(job& j);
  void park(job& j);
  void inherit(job& j);
  void ended(attempt_result& end);
  void failed(job& j, error why, bool may_have_started,
              bool speaks_of_backend = true);
  error last_failure(const job& j, error why, bool may_have_started) const;

  // -- the ends --------------------------------------------------------------
  void conclude(job& j, result<std::shared_ptr<run_result>> outcome);
  void replay(job& j, const run_record& before);
  void close(job& j);
  void answer_with(job& j);
  bool record_end(const job& j);
  void release(job& j);
  void end_early(job& j, exit_reason why);
  void give_up(job& j);
  void orphaned(job& j);

  // -- helpers ---------------------------------------------------------------
  job* find(const live_run_ptr& run);
  bool try_claim_end(job& j);
  void complete(job& j, run_result& r);
  std::function<void(bool)> tell_kept(const job& j);
  clock::time_point now() const { return clock::now(); }
  void mark(job& j, std::string_view stage_name);
  void set_alarm(job& j, clock::time_point when);
  void arm();
  void wake(std::vector<admission::guest> guests);
  std::shared_ptr<run_result> early_result(const job& j, exit_reason why,
                                           std::string detail);
  backend_viewer viewer() const;
};

dispatcher_actor::behavior_type
dispatcher(dispatcher_actor::stateful_pointer<dispatcher_state> self,
           context_ptr context, std::uint32_t index);

} // namespace troupe
