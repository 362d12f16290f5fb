#pragma once

#include "actors/sandbox/live_context.hpp"
#include "actors/sandbox/live_process.hpp"
#include "actors/sandbox/sandbox_services.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a sandbox's actor begins with.
struct sandbox_init {
  sandbox_record record;
  std::size_t place = 0; // of the options
  environment env;
  caller who;
  std::shared_ptr<sandbox_event_log> events;
  std::string at_place;          // the snapshot that it is made from
  std::optional<git_source> git; // cloned before it runs
  std::shared_ptr<const sandbox_handle> box;
  bool was_there = false; // before this engine was
  bool was_over = false;  // and ended before
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
  std::string at_place; // the snapshot that it is made from
  std::optional<git_source> git;
  std::size_t place_index = 0;
  std::unique_ptr<sandbox_life> life;
  std::shared_ptr<sandbox_event_log> events;
  std::optional<sandbox_state> told; // by the last event about its state

  std::shared_ptr<const sandbox_handle> box; // once it has been made
  std::shared_ptr<cancellation> creation;    // while it is being made
  bool unknown_box = false; // it may be there, but its name is not known
  sandbox_record_ptr kept;  // what was written down last
  clock::time_point admitted_at{};
  bool renewing = false;
  bool destroying = false;
  bool end_told = false;
  std::vector<record_promise>
    waiting_until_ready;                // until it runs or never will
  std::vector<record_promise> renewals; // at most one
  std::vector<record_promise> pauses;   // until it stands still, or does not
  std::vector<record_promise> removals; // until nothing is left
  /// What goes on when it runs again, or is told why it does not.
  using resumed_handler = std::function<void(std::optional<sandbox_error>)>;
  std::vector<resumed_handler> waiting_until_resumed;
  clock::time_point still_since{}; // while it is paused
  bool cutting = false; // its files are put away, or others in their place
  snapshot_order wanted_snapshot;
  std::optional<snapshot_index::entry> wanted_rollback;
  std::vector<caf::typed_response_promise<snapshot_answer>>
    snapshots;                                         // at most one
  std::vector<record_promise> rollbacks;               // at most one
  std::shared_ptr<const sandbox_change> wanted_change; // of its network
  std::vector<record_promise> network_changes;         // at most one

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
  caf::result<record_answer> connect(const connect_order& order);
  caf::result<record_answer> change(const patch_order& order);
  caf::result<record_answer> pause();
  caf::result<record_answer> resume();
  caf::result<snapshot_answer> snapshot(const snapshot_order& order);
  caf::result<record_answer> rollback(const rollback_order& order);
  caf::result<record_answer> remove(const remove_order& order);
  /// Goes on with what an engine before us has left.
  void take_over(bool was_over);
  void tick();
  void handle(const place_event& news);

  // -- processes -------------------------------------------------------------
  caf::result<process_answer> begin(const start_order& order);
  process_answer find(const process_reference& which) const;
  processes_answer list() const;
  process_answer remove(const process_reference& which);
  caf::result<access_answer> enter();

  // -- contexts --------------------------------------------------------------
  context_answer begin(const context_order& order);
  cell_answer begin(const cell_order& order);
  context_answer find(const context_reference& which) const;
  contexts_answer list_contexts() const;
  context_answer remove(const context_reference& which);

  // -- parts -----------------------------------------------------------------
  void make(std::shared_ptr<cancellation> cancel);
  void found(const place_event& news);
  /// As it is written down.
  stored_sandbox to_store() const;
  void keep();
  void recorded(const place_event& news);
  void created(const place_event& news);
  record_answer renew_by_our_clock(std::chrono::milliseconds timeout);
  void renewed(const place_event& news);
  void begin_pause();
  void begin_resume();
  void paused(const place_event& news);
  void resumed(const place_event& news);
  /// Its time is over, or nothing used it.
  void end_by(timeout_action how, sandbox_end why);
  bool may_resume() const;
  /// What needs it to run comes a little later.
  bool has_to_wait() const { return cutting || may_resume(); }
  void go_on(const std::optional<sandbox_error>& why);
  void snapped(const place_event& news);
  /// The rest of the change is made when its network is another.
  caf::result<record_answer> change_network(const patch_order& order);
  void networked(const place_event& news);
  void lost(const place_event& news);
  void rolled_back(const place_event& news);
  std::shared_ptr<const sandbox_spec> spec_of_it() const;
  /// A process that is ended in time whatever it does.
  bool has_bounded_process() const;
  /// A message that comes once more when it runs again.
  template <class Answer, class... Ts>
  caf::typed_response_promise<Answer> after_resuming(Ts... message);
  void destroyed(const place_event& news);
  void process_begun(const place_event& news);
  void process_ended(const std::string& id);
  void begin_removal(sandbox_end why);
  void destroy();
  void finish(sandbox_state last, sandbox_end why,
              std::shared_ptr<const error> failure);
  sandbox_result<live_context_ptr>
  make_context(context_spec what, bool is_default, saved_context_ptr from = {});
  void context_changed();
  void contexts_due(clock::time_point now);
  void end_contexts(const std::string& why);
  void processes_due(clock::time_point now);
  void end_processes(process_reason why);
  void forget_old_processes();
  /// Tells the index, the controller, and calls that wait for the state.
  void publish();
  /// Tells the index alone: the state is what it was.
  void tell_due();
  void answer_waiting();
  clock::time_point due() const;
  sandbox_request request() const;
  /// It has been used now.
  void touch() { life->activity()->touch(services->now()); }
  /// Why nothing can be done in it now; nothing: it runs.
  std::optional<sandbox_error> why_not_running() const;
  sandbox_error ended() const;
};

template <class Answer, class... Ts>
caf::typed_response_promise<Answer>
live_sandbox::after_resuming(Ts... message) {
  auto promise = self->make_response_promise<Answer>();
  waiting_until_resumed.push_back(
    [this, promise, message...](std::optional<sandbox_error> why) mutable {
      if (why)
        promise.deliver(Answer{std::move(*why)});
      else
        promise.delegate(sandbox_actor{self}, message...);
    });
  if (state() == sandbox_state::paused)
    begin_resume();
  return promise;
}

sandbox_actor::behavior_type
sandbox(sandbox_actor::stateful_pointer<live_sandbox> self,
        sandbox_services_ptr services, run_services_ptr engine,
        std::shared_ptr<sandbox_init> init);

/// The audit's line about a sandbox: caller, change, place; no value.
std::string audit_of_sandbox(const caller& who, std::string_view change,
                             const sandbox_record& r);

} // namespace troupe
