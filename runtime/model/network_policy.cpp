#include "runtime/model/network_policy.hpp"

#include "runtime/model/host_pattern.hpp"

#include <algorithm>

namespace troupe {

network_policy strictest(const network_policy& a, const network_policy& b) {
  if (a.mode == network_mode::off || b.mode == network_mode::off)
    return {network_mode::off, {}};
  if (a.mode == network_mode::open && b.mode == network_mode::open)
    return {network_mode::open, {}};
  if (a == b)
    return a;
  network_policy both{network_mode::listed, {}};
  auto theirs = patterns(b);
  for (auto& mine : patterns(a))
    for (auto& other : theirs) {
      auto shared = common(mine, other);
      if (!shared)
        continue;
      auto text = to_string(*shared);
      if (std::find(both.allow.begin(), both.allow.end(), text)
          == both.allow.end())
        both.allow.push_back(std::move(text));
    }
  return both;
}

} // namespace troupe
