#pragma once

#include "net/providers/daytona/provider.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What travels between us and Daytona, without the travelling.
namespace troupe::net::daytona {

inline constexpr std::string_view toolbox_key = "toolbox_url";

/// The daemon inside splits stdout from stderr for SDKs from 0.167 on only.
inline constexpr std::string_view sdk_version = "0.218.0";

/// Of the sandbox of a lease: taken twice, the first one is ours.
inline std::string sandbox_name(std::string_view tag) {
  return "troupe-" + std::string{tag};
}

result<std::string> creation_body(const sandbox_request& wanted,
                                  const daytona_options& options);

struct sandbox_state {
  sandbox_handle sandbox;
  std::string state; // "started", "error", "creating", ...
  std::string reason;

  bool ready() const { return state == "started"; }
  bool failed() const {
    return state == "error" || state == "build_failed" || state == "destroyed";
  }
};
result<sandbox_state> parse_sandbox(std::string_view body);

/// Of the answer to a deletion. A login page with status 200 deletes nothing.
result<void> reports_not_found(std::string_view body);

struct list_page {
  std::vector<tagged_sandbox> items;
  std::string next;
};
result<list_page> parse_list(std::string_view body);

/// The id of a command that was begun.
result<std::string> parse_command_id(std::string_view body);
/// The exit code, nothing while it runs.
result<std::optional<std::int32_t>> parse_command(std::string_view body);

struct command_logs {
  std::string out;
  std::string err;
};
result<command_logs> parse_logs(std::string_view body);

/// What is new of a log that comes whole each time, of which `shown` bytes were
/// shown. While it grows its last character may be half of one.
std::string_view new_output(std::string_view log, std::size_t& shown,
                            bool whole);

/// A line for the session's shell: the arguments, quoted, with their
/// environment, directory and input file. Variables in `env_file` reach this
/// command alone, and the file goes.
std::string session_line(const process_request& what,
                         std::string_view input_file,
                         std::string_view env_file = {});
/// What is to be in such a file: no command line ever shows a value.
std::string env_lines(const environment& env);

} // namespace troupe::net::daytona
