#pragma once

#include "runtime/engine.hpp"

#include <string>

namespace troupe {

/// Somebody who can derive the schema of a function by reading its source in
/// isolation. Thread-safe; does not block.
class schema_deriver {
public:
  virtual ~schema_deriver() = default;
  /// `function` "": the last one at the top level. `done` is called exactly
  /// once, on any thread.
  virtual void derive(language lang, std::string source, std::string function,
                      handler<derived_schema> done)
    = 0;
};

} // namespace troupe
