#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/runner/program.hpp"

#include <string>
#include <string_view>

namespace troupe::script {

/// A program that derives the JSON schema of a function by reading its source;
/// nothing of it is executed. `function` "": the last one at the top level.
result<program> build_schema_program(language lang, std::string_view source,
                                     std::string_view function,
                                     const program_paths& paths = {});

/// The schema, or `invalid_request` with the line and what to write instead.
result<derived_schema> parse_schema_answer(std::string_view answer);

} // namespace troupe::script
