#pragma once

#include "app/cli/api_client.hpp"
#include "app/cli/command_line.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Nothing on a terminal; with --json what was deleted.
int print_deleted(const std::string& what, bool as_json);

struct listed_column {
  const char* title;
  const char* member;
};

/// A listing as it is for programs; for people a table of these members.
result<int> print_list(api_client& engine, std::string target, bool as_json,
                       const std::vector<listed_column>& columns,
                       std::string query = {});

/// Adds a command that needs an engine: `todo` gets what was said (the caller
/// adds options that fill it) and an open session, and returns an exit code.
/// Each of them speaks to programs, too: --json is among its words.
template <class Words>
std::pair<CLI::App*, std::shared_ptr<Words>>
add_session_command(CLI::App* group, invocation& call, const char* name,
                    const char* help,
                    result<int> (*todo)(const Words&, api_client&)) {
  auto said = std::make_shared<Words>();
  auto cmd = group->add_subcommand(name, help);
  cmd->add_flag("--json", said->as_json, "Print JSON");
  auto session = add_session_options(*cmd);
  call.on(cmd, [said, session, todo] {
    return in_session(*session,
                      [&](api_client& engine) { return todo(*said, engine); });
  });
  return {cmd, said};
}

} // namespace troupe
