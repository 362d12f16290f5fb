#include "runtime/local/isolation/rlimits.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace troupe::isolation {

namespace {

outcome lower(const rlimit_plan& wanted) noexcept {
  rlimit now{};
  auto resource = static_cast<__rlimit_resource_t>(wanted.resource);
  if (::getrlimit(resource, &now) != 0)
    return failed(step::rlimits);
  rlimit next{};
  // RLIM_INFINITY is the greatest number, so the minimum is right for it.
  next.rlim_max = std::min<rlim_t>(wanted.value, now.rlim_max);
  next.rlim_cur = next.rlim_max;
  if (::setrlimit(resource, &next) != 0)
    return failed(step::rlimits);
  return {};
}

} // namespace

outcome lower_rlimits(const std::vector<rlimit_plan>& limits) noexcept {
  for (const auto& wanted : limits)
    if (auto no = lower(wanted); !no.ok())
      return no;
  return {};
}

outcome bound_open_files(std::uint64_t count) noexcept {
  return lower({RLIMIT_NOFILE, count});
}

} // namespace troupe::isolation
