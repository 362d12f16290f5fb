#pragma once

#include "runtime/model/ids.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/package_requirement.hpp"
#include "runtime/model/run_files.hpp"
#include "runtime/model/sandbox_config.hpp"
#include "runtime/model/tool.hpp"
#include "runtime/model/variable.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class run_kind : std::uint8_t {
  tool,    // a stored tool, by id or name
  source,  // a tool whose source is in the request
  code,    // a snippet: the value of its last expression is the result
  command, // a program or a shell line
};

/// An execution message: what to run, with which arguments, for which caller.
struct run_request {
  run_id id;
  organization_id organization;
  user_id user;

  run_kind kind = run_kind::tool;
  language lang = language::python;
  tool_id tool;                  // kind tool: by id ...
  std::string tool_name;         // ... or by name
  std::string source;            // kinds source and code
  std::string function;          // kind source; "": the schema's or the last
  std::vector<std::string> argv; // kind command: a program ...
  std::string command;           // ... or a line for `sh -c`
  std::string stdin_text;        // kind command

  std::string args_json = "{}"; // the arguments: a JSON object
  std::string json_schema;      // kind source: JSON text, "": none
  std::string args_json_schema; // kind source: JSON text, "": none
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  std::uint32_t return_char_limit = 0; // 0: the tool's, else the default
  /// Arguments that do not fit are no reason to refuse: see `bind_options`.
  bool lenient_arguments = false;
  /// Carried out as at Letta: a call runs the source's `__main__` guard too.
  bool as_letta = false;
  /// Kind source: no call was asked for, so that a source which is a program
  /// runs as one (docs/tools.md#scripts).
  bool may_be_script = false;

  environment env;       // the caller's variables
  environment agent_env; // the agent's variables
  std::string agent_id;
  std::string project_id;
  std::string agent_state_json; // JSON text, "": none

  std::optional<backend_name>
    backend;        // absent: actors/dispatch/backend_selection.hpp chooses
  config_id config; // empty: the organization's default
  limit_overrides limits;
  std::optional<network_policy> network;
  std::optional<isolation_level> isolation;

  bool idempotent = false;     // may be run again after a lost attempt
  std::string idempotency_key; // "": none
  std::int32_t priority = 0;   // higher goes first within an organization
  std::chrono::milliseconds deadline{0}; // for all of it; 0: the default
  std::string traceparent;               // W3C, "": none
  std::map<std::string, std::string> labels;

  std::vector<run_file> files;      // put into its directory before it begins
  std::vector<std::string> outputs; // patterns of what comes back from there
};

/// Did the tool do its job?
enum class run_status : std::uint8_t { success, error };

/// Why a run ended: a closed set.
enum class exit_reason : std::uint8_t {
  exited,   // by itself, with a value or an exit code
  signaled, // by a signal of its own making
  wall_timeout,
  cpu_timeout,
  memory_limit,
  output_limit,
  pids_limit,
  disk_limit,
  syscall_blocked,
  policy_denied,
  cancelled,
  start_failed, // never began
  lost,         // its carrier died: it may have run
  raised,       // the tool raised an error, and its process ended well
};
inline constexpr std::size_t exit_reasons = 14;

std::string_view to_string(run_kind k);
std::string_view to_string(run_status s);
/// The words of `status_of`.
inline constexpr std::array<std::string_view, 6> status_words{
  "success", "error", "timeout", "limit", "cancelled", "lost"};
std::string_view to_string(exit_reason r);
std::string_view to_string(isolation_level l);
std::string_view to_string(layer_state s);
std::string_view to_string(network_mode m);
result<exit_reason> parse_exit_reason(std::string_view text);
result<isolation_level> parse_isolation(std::string_view text);

/// Measured by the engine, never told by the tool.
struct run_usage {
  std::chrono::microseconds wall{0};
  std::chrono::microseconds cpu{0};
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t stdout_bytes = 0; // produced, not kept
  std::uint64_t stderr_bytes = 0;

  friend bool operator==(const run_usage&, const run_usage&) = default;
};

/// How long one stage of the run's life took.
struct run_stage {
  std::string name; // "queue", "resolve", "variables", "prepare", "run", ...
  std::chrono::microseconds took{0};

  friend bool operator==(const run_stage&, const run_stage&) = default;
};

/// One backend that was tried before the one that answered.
struct failover_step {
  backend_name backend = backend_kind::local;
  std::string reason;

  friend bool operator==(const failover_step&, const failover_step&) = default;
};

/// One decision of the network broker.
struct network_event {
  std::string target; // "93.184.216.34:443" or "example.org:443"
  bool allowed = false;
  std::string reason;

  friend bool operator==(const network_event&, const network_event&) = default;
};

/// What the tool raised.
struct tool_error {
  std::string name; // "ValueError"
  std::string message;
  std::string traceback; // of the tool's own frames
  std::string friendly;  // "Error executing function f: ValueError: ..."

  bool empty() const { return name.empty() && friendly.empty(); }
  friend bool operator==(const tool_error&, const tool_error&) = default;
};

/// What came of a run. Only `value_json`, `agent_state_*`, `failure` and the
/// output are the tool's word; everything else is what the engine saw.
struct run_result {
  run_id id;
  run_status status = run_status::error;
  exit_reason reason = exit_reason::start_failed;
  std::int32_t exit_code = 0; // reason exited
  std::int32_t signal = 0;    // reason signaled
  std::string detail;         // one sentence on the reason, for people

  std::string value_json = "null";     // valid JSON, checked
  bool value_is_text_fallback = false; // the value had no JSON form: its str()
  std::string value_encoding;          // "base64": the value is bytes; else ""
  bool value_truncated = false; // over return_char_limit: null (at Letta: cut)
  std::uint64_t value_size = 0; // characters of it, where it was truncated
  std::vector<output_file> files;       // that were asked for, and are there
  std::vector<display_bundle> displays; // what a program showed
  tool_error failure;                   // empty on success
  std::string stdout_text; // UTF-8, repaired where the tool was not
  std::string stderr_text;
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::string agent_state_json; // "": not injected
  std::string agent_state_diff; // JSON Patch (RFC 6902), "": not injected

  run_usage usage;
  std::vector<run_stage> stages;
  backend_name backend = backend_kind::local;
  std::string fingerprint; // of the sandbox config
  std::string package_set; // fingerprint of interpreter and packages
  std::vector<failover_step> trail;
  isolation_report isolation;
  std::vector<network_event> network; // bounded
  std::vector<std::string> notes;     // for people: degraded, retried, ...
  /// Given again for an idempotency key: everything above is what was answered
  /// then, the run's id too. Told beside the answer, never kept with it.
  bool replayed = false;
};

/// What a client switches on, in one word: `success`; `error`, the tool failed
/// or could not be started; `timeout`; `limit`, of memory, processes, disk or
/// output; `cancelled`; `lost`, it may have run.
std::string_view status_of(const run_result& r);
/// The code that the process ended with, where that says something: not after
/// a signal or a limit, and no 0 for a tool that failed.
std::optional<std::int32_t> shown_exit_code(const run_result& r);

} // namespace troupe
