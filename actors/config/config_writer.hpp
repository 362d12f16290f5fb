#pragma once

#include "actors/context/engine_context.hpp"

#include <memory>

namespace troupe {

/// The only writer of the configuration. The actor engine sends it changes; it
/// applies each one together with its audit entry and publishes the next
/// catalog. Detached (a thread of its own), because the configuration store
/// blocks.
struct config_state {
  static constexpr auto name = "config";

  config_actor::pointer self = nullptr;
  context_ptr context;
  std::shared_ptr<configuration_store> store;

  caf::result<change_result> change(const change_request& order);
};

config_actor::behavior_type
config_writer(config_actor::stateful_pointer<config_state> self,
              context_ptr context, std::shared_ptr<configuration_store> store);

} // namespace troupe
