#include "actors/sandbox/gateway/place_calls.hpp"

namespace troupe {

std::optional<sandbox_error> has_files(const sandbox_place& at) {
  if (at.provider->files())
    return std::nullopt;
  return sandbox_error{
    sandbox_problem::unsupported_here, ec::invalid_request,
    std::string{to_string(at.name)}
      + " has no way in to files; use exec, with cat and tee"};
}

std::optional<sandbox_error> has_ports(const sandbox_place& at) {
  if (at.provider->capabilities().ports)
    return std::nullopt;
  return sandbox_error{sandbox_problem::unsupported_here, ec::invalid_request,
                       std::string{to_string(at.name)}
                         + " has no way in to ports here; use exec, with curl"};
}

sandbox_error closer(error why) {
  if (why.code == ec::no_space)
    return {sandbox_problem::disk_limit, ec::no_space, why.text};
  return sandbox_error{std::move(why)};
}

} // namespace troupe
