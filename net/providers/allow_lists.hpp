#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/network_policy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

/// An allow list as providers take it: networks apart from names.
struct allow_lists {
  bool everything = false;           // the policy opens the whole internet
  std::vector<std::string> networks; // "10.0.0.0/8", always with its length
  std::vector<std::string> names;    // "example.org", "*.example.org"
};

/// Of a policy that lists hosts. Refuses ports: no provider's rules have any.
result<allow_lists> host_lists_of(const network_policy& policy,
                                  std::string_view provider);

} // namespace troupe::net
