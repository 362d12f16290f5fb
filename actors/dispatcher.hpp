#pragma once

#include "actors/context.hpp"
#include "actors/resolve.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Takes runs through their life: claim, resolve, queue, environment, run,
/// answer. A stage is a member function that ends in a letter, in the next
/// stage, or in `conclude`; nobody else answers.
struct dispatcher_state {
  static constexpr auto name = "dispatcher";
  using clock = live_run::clock;

  enum class stage : std::uint8_t {
    claiming,  // the ledger looks up the key
    resolving, // the arguments are bound elsewhere
    waiting,   // for a turn
    gathering, // variables
    running,   // an executor has it
  };

  struct job {
    live_run_ptr run;
    std::shared_ptr<const run_request> request;
    stage at = stage::claiming;
    caf::typed_response_promise<run_answer> answer;
    caf::typed_response_promise<run_note> accepted; // detached
    bool keyed = false;                             // holds an idempotency key
    bool detached = false;
    bool admitted = false; // may be asked for from now on

    catalog_ptr config; // one picture for the whole run
    resolved_run resolved;
    backend_plan plan;
    std::size_t candidate = 0;
    std::uint32_t number = 0; // of the attempt
    config_view_ptr view;
    std::shared_ptr<prepared_run> prepared;
    executor_actor executor;
    caf::actor_addr helper; // who is to answer: its death is our business
    bool breaker_owed = false;

    std::vector<failover_step> trail;
    std::vector<run_stage> stages;
    std::vector<std::string> notes;
    clock::time_point stage_began{};
    clock::time_point deadline{};
    std::optional<std::multimap<clock::time_point, live_run_ptr>::iterator>
      alarm;
    std::optional<exit_reason> asked_to_end; // cancelled or wall_timeout
  };

  dispatcher_actor::pointer self = nullptr;
  context_ptr context;
  std::uint32_t index = 0;
  std::unordered_map<const live_run*, job> jobs;
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
  caf::result<run_answer> run(execution& what);
  caf::result<run_note> start(execution& what);
  caf::result<run_note> cancel(const live_run_ptr& run);
  caf::result<explain_result> explain(const execution& what);
  void gone(const caf::actor_addr& who);
  void tick(std::uint64_t generation);
  void stop();

  // -- the stages ------------------------------------------------------------
  job* take_on(execution& what, bool detached, error& why);
  void begin(job& j);
  void claimed(const claim_reply& reply);
  void resolve_now(job& j);
  void resolved(job& j, result<resolved_run> what);
  void kept(const live_run_ptr& run);
  void turn(job& j);
  void try_next(job& j);
  void gathered(const troupe::gathered& found);
  void gather(job& j);
  void launch(job& j, const found_layers& found);
  void ended(attempt_end& end);
  void failed(job& j, error why, bool may_have_started);

  // -- the ends --------------------------------------------------------------
  void conclude(job& j, result<std::shared_ptr<run_result>> outcome);
  void answer_with(job& j);
  void record_begin(const job& j);
  void record_end(const job& j);
  void release(job& j);
  void end_early(job& j, exit_reason why);
  void orphaned(job& j);

  // -- helpers ---------------------------------------------------------------
  job* find(const live_run_ptr& run);
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
