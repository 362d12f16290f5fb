#include "runtime/model/run.hpp"

namespace troupe {

std::string_view to_string(run_kind k) {
  switch (k) {
  case run_kind::tool:
    return "tool";
  case run_kind::source:
    return "source";
  case run_kind::code:
    return "code";
  case run_kind::command:
    return "command";
  }
  return "tool";
}

std::string_view to_string(run_status s) {
  switch (s) {
  case run_status::success:
    return "success";
  case run_status::error:
    return "error";
  }
  return "error";
}

std::string_view to_string(exit_reason r) {
  switch (r) {
  case exit_reason::exited:
    return "exited";
  case exit_reason::signaled:
    return "signaled";
  case exit_reason::wall_timeout:
    return "wall_timeout";
  case exit_reason::cpu_timeout:
    return "cpu_timeout";
  case exit_reason::memory_limit:
    return "memory_limit";
  case exit_reason::output_limit:
    return "output_limit";
  case exit_reason::pids_limit:
    return "pids_limit";
  case exit_reason::disk_limit:
    return "disk_limit";
  case exit_reason::syscall_blocked:
    return "syscall_blocked";
  case exit_reason::policy_denied:
    return "policy_denied";
  case exit_reason::cancelled:
    return "cancelled";
  case exit_reason::start_failed:
    return "start_failed";
  case exit_reason::lost:
    return "lost";
  case exit_reason::raised:
    return "raised";
  }
  return "lost";
}

std::string_view status_of(const run_result& r) {
  if (r.status == run_status::success)
    return "success";
  switch (r.reason) {
  case exit_reason::wall_timeout:
  case exit_reason::cpu_timeout:
    return "timeout";
  case exit_reason::memory_limit:
  case exit_reason::output_limit:
  case exit_reason::pids_limit:
  case exit_reason::disk_limit:
    return "limit";
  case exit_reason::cancelled:
    return "cancelled";
  case exit_reason::lost:
    return "lost";
  case exit_reason::exited:
  case exit_reason::signaled:
  case exit_reason::syscall_blocked:
  case exit_reason::policy_denied:
  case exit_reason::start_failed:
  case exit_reason::raised:
    return "error";
  }
  return "error";
}

std::optional<std::int32_t> shown_exit_code(const run_result& r) {
  if (r.reason != exit_reason::exited
      || (r.exit_code == 0 && r.status != run_status::success))
    return {};
  return r.exit_code;
}

std::string_view to_string(isolation_level l) {
  switch (l) {
  case isolation_level::strict:
    return "strict";
  case isolation_level::standard:
    return "standard";
  case isolation_level::best_effort:
    return "best_effort";
  case isolation_level::off:
    return "off";
  }
  return "off";
}

std::string_view to_string(layer_state s) {
  switch (s) {
  case layer_state::enforced:
    return "enforced";
  case layer_state::degraded:
    return "degraded";
  case layer_state::absent:
    return "absent";
  }
  return "absent";
}

std::string_view to_string(network_mode m) {
  switch (m) {
  case network_mode::off:
    return "off";
  case network_mode::open:
    return "public";
  case network_mode::listed:
    return "allow";
  }
  return "off";
}

result<exit_reason> parse_exit_reason(std::string_view text) {
  for (std::size_t i = 0; i < exit_reasons; ++i)
    if (auto r = static_cast<exit_reason>(i); to_string(r) == text)
      return r;
  return bad_field(
    "", "'" + std::string{text.substr(0, 64)} + "' is not an exit reason");
}

result<isolation_level> parse_isolation(std::string_view text) {
  for (auto l : {isolation_level::strict, isolation_level::standard,
                 isolation_level::best_effort, isolation_level::off})
    if (to_string(l) == text)
      return l;
  if (text == "best-effort") // as config.ini spells it
    return isolation_level::best_effort;
  return bad_field(
    "", "'" + std::string{text.substr(0, 64)} + "' is not an isolation level",
    "one of strict, standard, best_effort, off");
}

} // namespace troupe
