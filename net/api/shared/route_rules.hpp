#pragma once

#include "net/server/exchange.hpp"
#include "net/server/router.hpp"

#include <optional>

namespace troupe::net {

/// A parameter that no handler reads is a mistake: 422.
std::optional<error> refuse_query(const request& in);

inline route_rules needing(scope s, body_rule body = body_rule::json) {
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(s);
  rules.body = body;
  rules.inspect = refuse_query;
  return rules;
}

/// For a list, which reads its parameters itself.
inline route_rules listing(scope s) {
  auto rules = needing(s, body_rule::none);
  rules.inspect = nullptr;
  return rules;
}

} // namespace troupe::net
