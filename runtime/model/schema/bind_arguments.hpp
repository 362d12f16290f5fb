#pragma once

#include "runtime/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct bind_options {
  std::string pointer = "/args"; // in front of every complaint
  /// Texts become what the schema wants, where it wants no text: "5" an
  /// integer, "true" a boolean, JSON text an array or an object.
  bool coerce = true;
  std::size_t complaints = 64; // then it stops looking
  /// Gets the names of arguments whose null was taken for "not given".
  std::vector<std::string>* dropped = nullptr;
  /// As Letta does: names that the schema does not know are
  /// dropped, what is missing stays missing, and an argument that does not fit
  /// goes to the tool as it came. One that fits is corrected as ever.
  bool lenient = false;
  /// With `lenient`: one that does not fit is what Python's own types make of
  /// it, as far as that is obvious: False of 0, "5" of 5, 5 of 5.7. Where an
  /// integer or a boolean is wanted and nothing makes one, it is refused.
  bool python = false;
};

/// Checks the arguments of a call against the schema of its tool, which is
/// either `{"name": ..., "parameters": {...}}` or the parameters themselves
/// (JSON Schema 2020-12; remote references and unknown keywords are passed
/// over). Returns the arguments as the tool gets them:
///
/// - a text stays exactly what it is wherever the schema permits a text;
/// - one argument never depends on another one;
/// - null for an optional argument that may not be null: as if not given;
/// - names that the schema does not know are refused, with the nearest one,
///   unless it says `additionalProperties`.
result<json::object> bind_arguments(json::object args,
                                    const json::object& schema,
                                    const bind_options& options = {});

/// The same on texts. No schema (""), no check beyond "it is an object".
result<std::string> bind_arguments(std::string_view args_json,
                                   std::string_view schema_json,
                                   const bind_options& options = {});

} // namespace troupe
