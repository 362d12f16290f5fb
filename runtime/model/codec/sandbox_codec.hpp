#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/sandbox_context.hpp"

/// Sandboxes as JSON: what is asked for, and what is known.
namespace troupe {

/// {"template", "name", "place", "timeout": 300 | "5m", "on_timeout": "delete"
/// | "pause" | "stop", "idle_timeout", "on_idle", "auto_resume", "session",
/// "snapshot", "env" {}, "metadata" {}, "network", "isolation",
/// "resources": {"memory_bytes", "disk_bytes", "inodes", "processes"},
/// "wait": "running" | "none"}, each of them optional.
result<sandbox_spec> parse_sandbox_spec(const json::object& body);

/// {"timeout": 300 | "5m"}
result<std::chrono::milliseconds> parse_renewal(const json::object& body);

/// {"timeout": 300 | "5m"}, or nothing: its own stays.
result<std::optional<std::chrono::milliseconds>>
parse_connection(const json::object& body);

/// {"metadata": {"name": "value" | null}, "timeout", "on_timeout",
/// "idle_timeout": "10m" | null, "on_idle", "auto_resume"}
result<sandbox_change> parse_sandbox_change(const json::object& body);

/// What `argv` or `command` says, and beside it {"cwd", "env" {}, "stdin",
/// "open_stdin", "timeout", "tag", "terminal": {"cols", "rows"}}.
result<process_spec> parse_process_spec(const json::object& body);

/// {"cols", "rows"}; what is absent is as it usually is.
result<terminal_size> parse_terminal_size(const json::object& body,
                                          std::string pointer = {});

/// {"language", "name", "cwd", "env" {}, "auto_restart"}, of which only the
/// first is needed.
result<context_spec> parse_context_spec(const json::object& body);

/// {"code", "timeout"}, and "language" where `language` is given: it says which
/// context is meant.
result<cell_spec> parse_cell_spec(const json::object& body,
                                  context_language* language = nullptr);

json::object to_json(const context_record& r);
json::object to_json(const cell_record& r);

json::object to_json(const sandbox_record& r);
json::object to_json(const process_record& r);
json::object to_json(const sandbox_event& e);
json::object to_json(const snapshot_record& r);

/// {"name"}: of a snapshot, optional.
result<std::string> parse_snapshot_name(const json::object& body);
/// {"snapshot": "an id or a name"}
result<std::string> parse_rollback(const json::object& body);
/// {"count": 1, "timeout", "metadata" {}, "env" {}}, each of them optional.
result<fork_spec> parse_fork(const json::object& body);
result<branch_spec> parse_branch(const json::object& body);

} // namespace troupe
