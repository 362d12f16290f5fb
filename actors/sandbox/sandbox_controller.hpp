#pragma once

#include "actors/sandbox/kept_records.hpp"
#include "actors/sandbox/sandbox_admission.hpp"
#include "actors/sandbox/sandbox_services.hpp"

#include <memory>

namespace troupe {

struct sandbox_init;

/// Takes sandboxes in, says which is made when, and looks after their actors.
/// What it knows stands in the index, so that the next one goes on with it.
struct sandbox_controller_state {
  static constexpr auto name = "sandboxes";

  sandbox_controller_actor::pointer self = nullptr;
  sandbox_services_ptr services;
  run_services_ptr engine; // whether it drains, its ledger
  std::unique_ptr<sandbox_admission> admission;
  std::unique_ptr<kept_records> records; // of what is over
  bool ticking = false;
  bool stopping = false;

  /// What one before us has left.
  void recall();
  record_answer create(const create_order& order);
  /// The sandbox of the order's session, where there is one.
  std::optional<sandbox_record_ptr> of_session(const create_order& order) const;
  records_answer list(const list_order& order) const;
  void changed(const sandbox_id& id);
  void heard(const left_sandboxes& news);
  void ask_what_is_left(std::size_t place);
  void tick();
  void down(const caf::down_msg& m);
  void stop();
  void overdue();

private:
  sandbox_result<std::shared_ptr<sandbox_init>>
  init_for(const create_order& order) const;
  void take_over();
  void missing_place(const sandbox_record& r) const;
  void admit_more();
  /// Of one that is over; an older one may have to go for it.
  void keep_record(const sandbox_record& r);
  void schedule_tick();
};

sandbox_controller_actor::behavior_type sandbox_controller(
  sandbox_controller_actor::stateful_pointer<sandbox_controller_state> self,
  sandbox_services_ptr services, run_services_ptr engine);

/// What a sandbox would be made with, or why it is refused.
sandbox_result<sandbox_record> record_for(const sandbox_spec& spec,
                                          const sandbox_options& options,
                                          std::size_t& place);

/// Why what is to be done at a timeout cannot be done at a place.
std::optional<sandbox_error> cannot_do(timeout_action how,
                                       const sandbox_place& at);

} // namespace troupe
