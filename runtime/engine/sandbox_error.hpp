#pragma once

#include "runtime/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// What is wrong with a sandbox, more closely than an `ec` says it: a closed
/// set, told to clients as the `code` of a problem.
enum class sandbox_problem : std::uint8_t {
  none, // the `ec` says it all
  sandbox_not_running,
  sandbox_paused,
  sandbox_ended,
  process_ended,
  context_lost,
  context_not_branchable,
  nothing_listens,
  start_failed,
  unsupported_here,
  template_not_found,
  disk_limit,
  quota,
  queue_full,
  place_unavailable,
};

/// "" for none.
constexpr std::string_view to_string(sandbox_problem p) {
  switch (p) {
  case sandbox_problem::none:
    return "";
  case sandbox_problem::sandbox_not_running:
    return "sandbox_not_running";
  case sandbox_problem::sandbox_paused:
    return "sandbox_paused";
  case sandbox_problem::sandbox_ended:
    return "sandbox_ended";
  case sandbox_problem::process_ended:
    return "process_ended";
  case sandbox_problem::context_lost:
    return "context_lost";
  case sandbox_problem::context_not_branchable:
    return "context_not_branchable";
  case sandbox_problem::nothing_listens:
    return "nothing_listens";
  case sandbox_problem::start_failed:
    return "start_failed";
  case sandbox_problem::unsupported_here:
    return "unsupported_here";
  case sandbox_problem::template_not_found:
    return "template_not_found";
  case sandbox_problem::disk_limit:
    return "disk_limit";
  case sandbox_problem::quota:
    return "quota";
  case sandbox_problem::queue_full:
    return "queue_full";
  case sandbox_problem::place_unavailable:
    return "place_unavailable";
  }
  return "";
}

/// A failure of a call about a sandbox.
struct sandbox_error : error {
  sandbox_problem problem = sandbox_problem::none;

  sandbox_error() = default;
  sandbox_error(error why) : error{std::move(why)} {}
  sandbox_error(sandbox_problem what, ec code, std::string text,
                std::chrono::milliseconds retry = {})
      : error{code, std::move(text), {}, retry}, problem{what} {}
};

template <class T = void>
using sandbox_result = boost::system::result<T, sandbox_error>;

} // namespace troupe
