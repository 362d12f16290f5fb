#pragma once

#include "actors/engine/engine_host.hpp"
#include "include/troupe/actors.hpp"

namespace troupe {

/// An engine of the public face that has actors behind it.
class actor_access {
public:
  virtual ~actor_access() = default;
  virtual api::actor_face face() = 0;
};

/// Of an engine in this process.
api::actor_face face_of(engine_host& host);

} // namespace troupe
