#pragma once

#include "actors/context/engine_context.hpp"

#include <memory>

namespace troupe {

/// The only writer of the configuration: applies a change, publishes the next
/// picture, leaves an audit line. Detached: its store blocks.
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
