#include "runtime/packages/install_failure.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

/// How pip and npm say that nobody answered: their exit code is the same as
/// for a package that does not exist.
bool says_unreachable(const std::string& lines) {
  static constexpr std::array<std::string_view, 9> words{
    "NewConnectionError", "ConnectTimeoutError", "ReadTimeoutError",
    "ProxyError",         "Failed to establish", "ETIMEDOUT",
    "ECONNREFUSED",       "EAI_AGAIN",           "ENOTFOUND"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    return lines.find(word) != std::string::npos;
  });
}

/// pip tells of each try, at length; what it says at the end is enough.
std::string without_retries(std::string_view lines) {
  std::string kept;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end == lines.npos ? end : end + 1);
    lines.remove_prefix(line.size());
    if (line.find("Retrying (Retry(") == line.npos)
      kept += line;
  }
  return kept;
}

struct advice {
  ec code;
  std::string_view way_out;
};

advice advice_for(const run_result& ended, const std::string& last_lines) {
  switch (ended.reason) {
  case exit_reason::exited:
  case exit_reason::raised:
    if (says_unreachable(last_lines))
      return {ec::unavailable,
              "the package index could not be reached; try again, or check "
              "local.pip-index and local.npm-registry"};
    break;
  case exit_reason::policy_denied:
    return {ec::denied,
            "blocked by the engine's network policy; an operator can allow the "
            "host in local.network-allow"};
  case exit_reason::wall_timeout:
  case exit_reason::cpu_timeout:
    return {ec::timeout, "try again, or raise local.package-build-timeout"};
  case exit_reason::cancelled:
  case exit_reason::lost:
  case exit_reason::start_failed:
    return {ec::unavailable, "nothing is wrong with the packages; try again"};
  case exit_reason::memory_limit:
  case exit_reason::pids_limit:
  case exit_reason::disk_limit:
  case exit_reason::output_limit:
    return {ec::exhausted, "use fewer or smaller packages"};
  case exit_reason::signaled:
  case exit_reason::syscall_blocked:
    break;
  }
  return {ec::invalid_request, "change a version or drop a requirement"};
}

} // namespace

std::optional<error> install_failure(const run_outcome& outcome,
                                     const std::string& over_bound,
                                     const std::string& last_lines) {
  if (!outcome.answer)
    return outcome.answer.error();
  const auto& ended = *outcome.answer;
  if (ended.status == run_status::success && over_bound.empty())
    return {};
  auto [code, way_out] = advice_for(ended, last_lines);
  std::string why{to_string(ended.reason)};
  if (!over_bound.empty()) {
    code = ec::exhausted;
    way_out = "use fewer or smaller packages";
    why = over_bound;
  } else if (!ended.detail.empty()) {
    why += ": " + ended.detail;
  }
  return error{code,
               "the packages could not be installed (" + why + "); "
                 + std::string{way_out} + ". The installer's last lines:\n"
                 + without_retries(last_lines),
               {},
               {}};
}

} // namespace troupe
