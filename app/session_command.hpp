#pragma once

#include "app/api_session.hpp"
#include "app/command_line.hpp"

#include <memory>
#include <utility>

namespace troupe {

/// Adds a command that needs an engine: `todo` gets what was said (the caller
/// adds options that fill it) and an open session, and returns an exit code.
template <class Words>
std::pair<CLI::App*, std::shared_ptr<Words>>
add_session_command(CLI::App* group, invocation& call, const char* name,
                    const char* help,
                    result<int> (*todo)(const Words&, api_session&)) {
  auto said = std::make_shared<Words>();
  auto cmd = group->add_subcommand(name, help);
  auto session = add_session_options(*cmd);
  call.on(cmd, [said, session, todo] {
    return in_session(*session,
                      [&](api_session& engine) { return todo(*said, engine); });
  });
  return {cmd, said};
}

} // namespace troupe
