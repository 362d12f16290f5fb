#pragma once

#include "runtime/json/json.hpp"
#include "runtime/json/reader.hpp"

#include <optional>

/// What a sandbox may connect to, as clients say it.
namespace troupe::net::e2b_facade {

/// Their rules as the engine's own policy; nothing: none is said, or none but
/// what the operator allows. Allow lists are those of the engine; deny lists
/// are not, but for the one that denies everything.
std::optional<json::value> read_rules(json::reader& in,
                                      const std::optional<bool>& internet);

} // namespace troupe::net::e2b_facade
