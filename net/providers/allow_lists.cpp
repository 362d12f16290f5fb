#include "net/providers/allow_lists.hpp"

#include "runtime/base/error.hpp"
#include "runtime/model/host_pattern.hpp"

namespace troupe::net {

result<allow_lists> host_lists_of(const network_policy& policy,
                                  std::string_view provider) {
  allow_lists out;
  for (const auto& text : policy.allow) {
    auto pattern = parse_host_pattern(text);
    if (!pattern)
      return std::move(pattern).error().within("network");
    if (pattern->port)
      return fail(ec::invalid_request,
                  "network: " + std::string{provider} + " cannot allow '" + text
                    + "', its rules have no ports; allow the whole host or "
                      "use another backend");
    switch (pattern->what) {
    case host_pattern::kind::open:
      out.everything = true;
      break;
    case host_pattern::kind::network:
      out.networks.push_back(to_string(pattern->network.base) + "/"
                             + std::to_string(pattern->network.length));
      break;
    case host_pattern::kind::name:
    case host_pattern::kind::below:
      out.names.push_back(to_string(*pattern));
      break;
    }
  }
  return out;
}

} // namespace troupe::net
