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

/// What a dispatcher works with beside its own runs.
struct dispatcher_services {
  dispatcher_services() = default;
  dispatcher_services(const context_ptr& engine);

  /// Backends and admission, the ledger's queue, routes, metrics.
  run_services_ptr services;
  std::shared_ptr<const configuration_store> configuration; // its catalog
  std::shared_ptr<const run_rules> rules;
  deadline_rules deadlines;
  bool refuses_without_record = true; // a run that the record has no room for
  std::size_t most_request_bytes = 0; // of one that is kept
  std::optional<std::chrono::milliseconds> webhook; // its deadline, if any
  std::shared_ptr<boost::asio::thread_pool> background;
};

/// Takes runs through their life: resolve, queue, record, environment, run,
/// answer. A stage is a member function that ends in a message, in the next
/// stage, or in `conclude`; nothing else answers. Called by the actor engine
/// and the remote gateway; calls the credential actor, executors, the ledger.
///
/// The end of a run is four moments, all of them in dispatcher_conclude.cpp:
///
///   ended     `conclude` claims the end, which exactly one can, and sets
///             outcome or failure. Place, key, permit and alarm are given back
///             (`release`).
///   recorded  `record_end` counts it and queues its ledger entry. A run with
///             an idempotency key stays in `settling` until the disk has it
///             (`on_persisted`): its answer must not be lost once it is given.
///   told      `close` ends the event streams and has the registry keep the
///             run for late readers (`publish_end`).
///   answered  `answer_with` delivers the promise, and the job is gone.
///
/// A run that has lost its dispatcher goes the same way in `abandon`
/// (run_services.hpp), except that the supervisor fails its promise. `stage` is
/// the state of a run between two messages.
struct dispatcher_state : dispatcher_services {
  static constexpr auto name = "dispatcher";
  using clock = active_run::clock;

  enum class stage : std::uint8_t {
    resolving, // the arguments are bound elsewhere
    recording, // the ledger looks up the key, or writes down that it begins
    waiting,   // for a turn
    gathering, // variables
    blocked,   // its executor is being started again
    running,   // an executor has it
    settling,  // it has ended; the answer waits until its key holds it
  };

  struct job {
    active_run_ptr run;
    std::shared_ptr<const run_request> request;
    stage at = stage::resolving;
    caf::typed_response_promise<run_answer> answer;
    caf::typed_response_promise<run_status_message> accepted; // detached
    bool keyed = false; // the only one here with its idempotency key
    bool detached = false;
    bool admitted_early = false; // while it was still being recorded

    catalog_ptr config; // one catalog for the whole run
    resolved_run resolved;
    backend_plan plan;
    std::size_t candidate = 0;
    std::uint32_t attempt_number = 0;
    config_view_ptr view;
    std::shared_ptr<prepared_run> prepared;
    executor_actor executor;
    caf::actor_addr awaited_actor;          // its death is a matter of this job
    circuit_breaker::permit breaker_permit; // what came of it is to be told

    std::vector<failover_step> failover_trail;
    std::vector<run_stage> stages;
    std::vector<std::string> notes;
    std::vector<std::string> lowered; // limits, for this backend
    clock::time_point stage_began{};
    clock::time_point deadline{};
    std::optional<std::multimap<clock::time_point, active_run_ptr>::iterator>
      alarm;
    std::optional<exit_reason> stop_reason; // cancelled or wall_timeout
  };

  dispatcher_actor::pointer self = nullptr;
  std::uint32_t index = 0;
  std::unordered_map<const active_run*, job> jobs;
  std::multimap<clock::time_point, active_run_ptr> alarms;
  clock::time_point next_alarm = clock::time_point::max();
  std::uint64_t alarm_generation = 0;
  /// Keys of runs that go on right now: the ledger need not be asked.
  std::map<std::pair<organization_id, std::string>, active_run_ptr> keys;

  config_views views;
  tool_views tools;
  snapshot<routing>::cached routes; // as this actor saw them last
  snapshot<catalog>::cached config;

  // -- dispatcher.cpp: from outside, and helpers ------------------------------
  caf::result<run_answer> run(active_run_ptr& what);
  caf::result<run_status_message> start(active_run_ptr& what);
  caf::result<explain_result> explain(const active_run_ptr& what);
  job* accept_run(active_run_ptr& what, bool detached, error& why);
  void begin(job& j);
  job* find(const active_run_ptr& run);
  clock::time_point now() const { return services->now(); }
  void record_stage(job& j, std::string_view stage_name);
  void wake(std::vector<admission::waiter> waiters);
  backend_viewer viewer() const;

  // -- dispatcher_stages.cpp: to its turn -------------------------------------
  void resolve_now(job& j);
  void resolved(job& j, result<resolved_run> what);
  void record_start(job& j);
  std::shared_ptr<const run_request> request_to_keep(const job& j) const;
  std::function<void(bool)> when_persisted(const job& j);
  void on_key_claimed(const key_claim_result& reply);
  void on_persisted(const active_run_ptr& run, bool well);
  void on_recorded(job& j);
  void on_admitted(job& j);

  // -- dispatcher_attempt.cpp: at one backend after the other -----------------
  void try_next_backend(job& j);
  void say_passed_over(job& j, backend_name kind, std::string why);
  std::chrono::milliseconds next_try(const job& j) const;
  void gather(job& j);
  void gathered(const troupe::gathered& found);
  void launch(job& j, const resolved_variables& found);
  void send_to_executor(job& j);
  void wait_for_executor(job& j);
  void adopt_orphaned_run(job& j);
  void ended(attempt_result& end);
  void failed(job& j, error why, bool may_have_started,
              bool counts_against_backend = true);
  error last_failure(const job& j, error why, bool may_have_started) const;
  error unrecorded(ec why) const;

  // -- dispatcher_stop.cpp: ends that are asked for ---------------------------
  caf::result<run_status_message> cancel(const active_run_ptr& run);
  void on_actor_down(const caf::actor_addr& who);
  void stop();
  void set_alarm(job& j, clock::time_point when);
  void arm();
  void tick(std::uint64_t generation);
  void end_early(job& j, exit_reason why);
  void expire(job& j);
  void awaited_actor_died(job& j);
  std::shared_ptr<run_result> early_result(const job& j, exit_reason why,
                                           std::string detail);

  // -- dispatcher_conclude.cpp: the four moments ------------------------------
  bool try_claim_end(job& j);
  void conclude(job& j, result<std::shared_ptr<run_result>> outcome);
  void finish_result(job& j, run_result& r);
  bool record_end(const job& j);
  void release(job& j);
  void close(job& j);
  void answer_with(job& j);
  void replay(job& j, const run_record& before);
};

dispatcher_actor::behavior_type
dispatcher(dispatcher_actor::stateful_pointer<dispatcher_state> self,
           dispatcher_services services, std::uint32_t index);

} // namespace troupe
