#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/run.hpp"

#include <string>

/// Parsing from and rendering to JSON, one place per type. Names are
/// snake_case; unknown request members are refused with the nearest name.
namespace troupe {

// -- requests ----------------------------------------------------------------

/// What is run is said by exactly one of `tool_id`, `tool_name`, `source`,
/// `code`, `command` (a line for the shell) and `argv` (a program). Beside it:
///
///   language, function, json_schema {}, args_json_schema {}, stdin,
///   args {}, env {name: text}, agent_env {}, agent_id, project_id,
///   agent_state {}, pip_requirements [], npm_requirements [],
///   return_char_limit, backend, sandbox_config_id, limits {}, isolation,
///   network "off" | "public" | {"allow": []}, idempotent, priority,
///   deadline_seconds, labels {name: text}
///
/// `organization` and `user` come from the caller's key, never from the body;
/// idempotency key and traceparent come from headers.
result<run_request> parse_run_request(const json::object& body);
/// Everything, secrets included: for the cluster's wire only.
json::object to_wire(const run_request& r);
result<run_request> from_wire(const json::object& body);
/// As a client would send it, every value of a variable as "***".
json::object to_json(const run_request& r);
/// About how much memory it holds.
std::size_t bytes_of(const run_request& r);

/// {"wall_seconds": 5, "cpu_seconds": 2.5, "memory_bytes": 268435456,
/// "processes", "open_files", "disk_bytes", "inodes", "output_bytes",
/// "result_bytes"}. Seconds may be texts with a unit ("500ms", "5s", "2m",
/// "1h"), bytes too ("64KiB", "256MiB", "1GB").
result<limit_overrides> parse_limits(const json::object& body,
                                     std::string pointer);
json::object to_json(const limit_overrides& l);
json::object to_json(const limits& l);

/// One duration, in any of the forms that limits take: 5, 0.5, "500ms".
result<std::chrono::milliseconds> parse_duration(const json::value& body,
                                                 std::string pointer);

/// "off", "public", or {"allow": ["host:443"]}.
result<network_policy> parse_network(const json::value& body,
                                     std::string pointer);
json::value to_json(const network_policy& p);

/// A list of texts or of {"name", "version"} objects; either is accepted.
result<std::vector<pip_requirement>> parse_pip_list(const json::value& body,
                                                    std::string pointer);
result<std::vector<npm_requirement>> parse_npm_list(const json::value& body,
                                                    std::string pointer);
json::array to_json(const std::vector<pip_requirement>& list);
json::array to_json(const std::vector<npm_requirement>& list);

// -- records -----------------------------------------------------------------

json::object to_json(const tool& t);
result<tool> parse_tool(const json::object& body); // a stored record
json::object to_json(const sandbox_config& c);
result<sandbox_config> parse_sandbox_config(const json::object& body);
json::object to_json(const variable& v); // no value: it is write-only
result<variable> parse_variable(const json::object& body);
json::object to_json(const agent_variable& v);
result<agent_variable> parse_agent_variable(const json::object& body);

// -- results -----------------------------------------------------------------

/// For clients. Compact JSON text, built by appending so that `value_json` is
/// not parsed again.
std::string to_json_text(const run_result& r);
/// For peers: the tool's JSON stays text, so that numbers of any size pass.
json::object to_wire(const run_result& r);
std::string to_wire_text(const run_result& r);
/// For our own records: the same, without members that say nothing.
std::string to_stored_text(const run_result& r);
/// Reads any of these forms.
result<run_result> parse_run_result(const json::object& body);
json::object to_json(const isolation_report& r);

/// 2026-11-18T09:30:00.123456Z
std::string to_text(timestamp t);
result<timestamp> parse_timestamp(std::string_view text);
timestamp now();

} // namespace troupe
