#pragma once

#include "actors/context/run_services.hpp"
#include "runtime/engine/configuration_store.hpp"

#include <memory>

namespace troupe {

/// The only writer of the configuration: applies a change, which publishes the
/// next catalog, and leaves an audit entry. Detached: its store blocks.
struct config_state {
  static constexpr auto name = "config";

  config_actor::pointer self = nullptr;
  run_services_ptr services; // its ledger queue, metrics
  std::shared_ptr<configuration_store> store;

  caf::result<change_result> change(const change_request& order);
};

config_actor::behavior_type
config_writer(config_actor::stateful_pointer<config_state> self,
              run_services_ptr services,
              std::shared_ptr<configuration_store> store);

} // namespace troupe
