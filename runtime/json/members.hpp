#pragma once

#include "runtime/json/json.hpp"

namespace troupe::json {

/// The text of a member, "" when it is absent or of another type: for foreign
/// answers, of which only what we understand counts.
inline std::string text_or_empty(const object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v != nullptr && v->is_string() ? std::string{v->get_string()}
                                        : std::string{};
}

} // namespace troupe::json
