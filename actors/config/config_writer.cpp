#include "actors/config/config_writer.hpp"

#include "actors/state/audit_entries.hpp"

namespace troupe {

caf::result<change_result> config_state::change(const change_request& order) {
  auto line_if_done = audit_of_change(order.who, *order.what, nullptr);
  auto applied = store->apply(order.who, *order.what, line_if_done);
  if (!applied || !applied->audited) {
    // Nothing has changed: this line may come a little later.
    ledger_entry line;
    line.organization = order.who.organization;
    line.audit = std::move(line_if_done);
    if (!applied) {
      const auto why = applied.error();
      line.audit = audit_of_change(order.who, *order.what, &why);
    }
    enqueue_ledger_entry(*services, std::move(line));
  }
  if (!applied)
    return to_caf(std::move(applied.error()));
  engine_metrics::add(services->metrics.changes);
  return change_result{
    std::make_shared<const change_reply>(std::move(applied->reply))};
}

config_actor::behavior_type
config_writer(config_actor::stateful_pointer<config_state> self,
              run_services_ptr services,
              std::shared_ptr<configuration_store> store) {
  auto& state = self->state;
  state.self = self;
  state.services = std::move(services);
  state.store = std::move(store);
  return {
    [self](change_atom, const change_request& order) {
      return self->state.change(order);
    },
  };
}

} // namespace troupe
