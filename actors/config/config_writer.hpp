#pragma once

#include "actors/context/run_services.hpp"
#include "runtime/engine/configuration_store.hpp"

#include <memory>

namespace troupe {

/// The only writer of the configuration: takes changes from the actor engine to
/// the configuration store, which publishes the next catalog, each with its
/// audit entry. Detached (a thread of its own), because the store blocks.
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
