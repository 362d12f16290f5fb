#pragma once

#include "engine.hpp" // beside this one, in the sources as installed

#include <actors/protocol/messages.hpp>

/// For platforms that speak CAF themselves: the same engine, in this process or
/// far away, as a typed actor that answers `execution` with `run_answer`.
///
///   auto handle = troupe::api::actors_of(engine);
///   auto what = troupe::api::execution_from(message);
///   self->request(handle.gateway, 60s, troupe::run_v, *what).then(...);
namespace troupe::api {

struct actor_handle {
  /// Where to spawn actors that talk to it; knows all messages. Goes with the
  /// engine.
  caf::actor_system* system = nullptr;
  gateway_actor gateway; // empty while it is being started again
};

actor_handle actors_of(engine& e);

/// The message as it travels, or what is wrong with it.
result<execution> execution_from(const message& m);

/// What an answer says in the words of `engine::submit`.
reply reply_from(const run_answer& a);
reply reply_from(const caf::error& e);

} // namespace troupe::api
