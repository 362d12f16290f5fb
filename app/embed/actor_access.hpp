#pragma once

#include "actors/engine/engine_host.hpp"
#include "include/troupe/actors.hpp"

namespace troupe {

/// An engine of the public interface that is made of actors.
class actor_access {
public:
  virtual ~actor_access() = default;
  virtual api::actor_handle handle() = 0;
};

/// Of an engine in this process.
api::actor_handle handle_of(engine_host& host);

} // namespace troupe
