#pragma once

#include "actors/sandbox/live_context.hpp"
#include "actors/sandbox/live_process.hpp"
#include "actors/sandbox/sandbox_services.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// What a sandbox's actor begins with.
struct sandbox_init {
  sandbox_record record;
  std::size_t place = 0; // of the options
  environment env;
  caller who;
};

/// One living sandbox. Its state changes here and nowhere else, one wish at a
/// time; deleting wins over all of them. What its place does is begun on the
/// place's thread, which sends back what came of it.
struct live_sandbox {
  static constexpr auto name = "sandbox";
  using clock = sandbox_options::clock;
  using record_promise = caf::typed_response_promise<record_answer>;
  using process_promise = caf::typed_response_promise<process_answer>;

  sandbox_actor::pointer self = nullptr;
  sandbox_services_ptr services;
  run_services_ptr engine; // its ledger, its routes
  caller who;
  environment env;
  std::size_t place_index = 0;
  std::unique_ptr<sandbox_life> life;

  std::shared_ptr<const sandbox_handle> box; // once it has been made
  std::shared_ptr<cancellation> creation;    // while it is being made
  clock::time_point admitted_at{};
  bool renewing = false;
  bool destroying = false;
  bool end_told = false;
  std::vector<record_promise>
    waiting_until_ready;                // until it runs or never will
  std::vector<record_promise> renewals; // at most one
  std::vector<record_promise> removals; // until nothing is left

  struct process_entry {
    live_process_ptr process;
    clock::time_point end = clock::time_point::max(); // then it is killed
    std::vector<process_promise> begun;               // at most one
    clock::time_point ended_at = clock::time_point::max();
  };
  std::map<std::string, process_entry> processes;
  std::map<std::string, live_context_ptr> contexts;

  const sandbox_place& place() const {
    return services->options.places[place_index];
  }
  const sandbox_record_ptr& record() const { return life->record(); }
  sandbox_state state() const { return life->state(); }

  // -- life ------------------------------------------------------------------
  void admit();
  caf::result<record_answer> ready();
  caf::result<record_answer> renew(const renew_order& order);
  caf::result<record_answer> remove(const remove_order& order);
  void tick();
  void handle(const place_event& news);

  // -- processes -------------------------------------------------------------
  caf::result<process_answer> begin(const start_order& order);
  process_answer find(const process_reference& which) const;
  processes_answer list() const;
  process_answer remove(const process_reference& which);
  access_answer enter() const;

  // -- contexts --------------------------------------------------------------
  context_answer begin(const context_order& order);
  cell_answer begin(const cell_order& order);
  context_answer find(const context_reference& which) const;
  contexts_answer list_contexts() const;
  context_answer remove(const context_reference& which);

  // -- parts -----------------------------------------------------------------
  void created(const place_event& news);
  record_answer renew_by_our_clock(std::chrono::milliseconds timeout);
  void renewed(const place_event& news);
  void destroyed(const place_event& news);
  void process_begun(const place_event& news);
  void process_ended(const std::string& id);
  void begin_removal(sandbox_end why);
  void destroy();
  void finish(sandbox_state last, sandbox_end why,
              std::shared_ptr<const error> failure);
  sandbox_result<live_context_ptr> make_context(context_spec what,
                                                bool is_default);
  void context_changed();
  void contexts_due(clock::time_point now);
  void end_contexts(const std::string& why);
  void processes_due(clock::time_point now);
  void end_processes(process_reason why);
  void forget_old_processes();
  /// Tells the index, the controller, and calls that wait for the state.
  void publish();
  void answer_waiting();
  clock::time_point due() const;
  sandbox_request request() const;
  /// Why nothing can be done in it now; nothing: it runs.
  std::optional<sandbox_error> why_not_running() const;
  sandbox_error ended() const;
};

sandbox_actor::behavior_type
sandbox(sandbox_actor::stateful_pointer<live_sandbox> self,
        sandbox_services_ptr services, run_services_ptr engine,
        std::shared_ptr<sandbox_init> init);

/// The audit's line about a sandbox: caller, change, place; no value.
std::string audit_of_sandbox(const caller& who, std::string_view change,
                             const sandbox_record& r);

} // namespace troupe
