#pragma once

#include "app/cli/command_line.hpp"

#include <string>
#include <vector>

namespace troupe {

// One per command and file. To add one: declare it here, and name it in the
// list of commands.cpp.
void add_serve_command(CLI::App& app, invocation& call);
void add_run_command(CLI::App& app, invocation& call);
void add_doctor_command(CLI::App& app, invocation& call);
void add_config_command(CLI::App& app, invocation& call);
void add_key_command(CLI::App& app, invocation& call);
void add_tool_command(CLI::App& app, invocation& call);
void add_runs_command(CLI::App& app, invocation& call);
void add_batch_command(CLI::App& app, invocation& call);
void add_packages_command(CLI::App& app, invocation& call);
void add_org_command(CLI::App& app, invocation& call);
void add_e2b_command(CLI::App& app, invocation& call);
void add_var_command(CLI::App& app, invocation& call);
void add_sandbox_config_command(CLI::App& app, invocation& call);
void add_sandboxes_command(CLI::App& app, invocation& call);
void add_mcp_command(CLI::App& app, invocation& call);
void add_drain_command(CLI::App& app, invocation& call);
void add_backup_command(CLI::App& app, invocation& call);
void add_bench_command(CLI::App& app, invocation& call);
void add_top_command(CLI::App& app, invocation& call);
void add_openapi_command(CLI::App& app, invocation& call);
void add_man_command(CLI::App& app, invocation& call);
void add_help_command(CLI::App& app, invocation& call);
void add_audit_command(CLI::App& app, invocation& call);
void add_backend_command(CLI::App& app, invocation& call);
void add_version_command(CLI::App& app, invocation& call);
void add_completion_command(CLI::App& app, invocation& call);

/// What may stand where the last word stands, one per line: the other half of
/// `troupe completion`.
int print_completions(const std::vector<std::string>& words);

/// `troupe help` with these words: the help of the command they lead to.
int explain_command(const std::vector<std::string>& words);

/// All of them, in the order of the help.
void add_commands(CLI::App& app, invocation& call);

} // namespace troupe
