#include "app/cli/commands.hpp"

namespace troupe {

void add_commands(CLI::App& app, invocation& call) {
  // In the order of the help.
  for (auto add : {
         add_serve_command,  add_run_command,       add_tool_command,
         add_runs_command,   add_batch_command,     add_packages_command,
         add_var_command,    add_sandboxes_command, add_sandbox_config_command,
         add_mcp_command,    add_config_command,    add_key_command,
         add_org_command,    add_e2b_command,       add_backend_command,
         add_doctor_command, add_top_command,       add_bench_command,
         add_backup_command, add_drain_command,     add_openapi_command,
         add_audit_command,  add_version_command,   add_completion_command,
         add_man_command,    add_help_command,
       })
    add(app, call);
}

} // namespace troupe
