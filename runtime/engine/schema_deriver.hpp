#pragma once

#include "runtime/engine/engine.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// The hint of an error about a source that is no source: what it says of its
/// arguments does not matter then.
inline constexpr std::string_view unreadable_source
  = "the interpreter cannot read it at all";

/// For callers that need the parameters: it is an error if they are unclear.
inline result<derived_schema> with_parameters(result<derived_schema> made) {
  if (made && !made->unclear.empty())
    return bad_field("/source_code", made->unclear);
  return made;
}

/// Port: derives the schema of a function by reading its source in
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
