#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/run.hpp"

#include <string>

/// Parsing from and rendering to JSON, one place per type. Names are
/// snake_case; unknown request members are refused with the nearest name.
namespace troupe {

// -- requests ----------------------------------------------------------------

/// `organization` and `user` come from the caller's key, never from the body.
result<run_request> parse_run_request(const json::object& body);
/// Everything, secrets included: for the cluster's wire and for nobody else.
json::object to_wire(const run_request& r);
result<run_request> from_wire(const json::object& body);

result<limit_overrides> parse_limits(const json::object& body,
                                     std::string pointer);
json::object to_json(const limit_overrides& l);
json::object to_json(const limits& l);

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

/// Compact JSON text, built by appending so that `value_json` is not parsed
/// again.
std::string to_json_text(const run_result& r);
result<run_result> parse_run_result(const json::object& body);
json::object to_json(const isolation_report& r);

/// 2026-11-18T09:30:00.123456Z
std::string to_text(timestamp t);
result<timestamp> parse_timestamp(std::string_view text);
timestamp now();

} // namespace troupe
