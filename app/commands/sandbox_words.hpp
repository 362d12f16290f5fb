#pragma once

#include "app/cli/session_command.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

/// What the commands about living sandboxes share.
namespace troupe {

/// A sandbox lives in an engine that serves: one that is opened for a command
/// would take it down with itself.
result<void> needs_a_server(const api_client& engine);

/// "/v1/sandboxes/ID" and what follows.
std::string sandbox_target(const std::string& id, const std::string& more = {});

/// How a process ended, as a shell tells it.
int code_of_process(const json::value& process);

/// NAME=VALUE words as an object.
result<json::object> variables_object(const std::vector<std::string>& words);

/// NAME=VALUE pairs to find a sandbox by, as an object.
result<json::object> metadata_object(const std::vector<std::string>& pairs);

/// A member for what was said; nothing for nothing.
void put_text(json::object& o, const char* name, const std::string& text);

/// A policy: off, public, or allow=host,host:port, as `troupe run` has it.
json::value network_object(const std::string& said);

/// When a sandbox ends by itself, and how.
struct life_words {
  std::string on_timeout;
  std::string idle_timeout;
  std::string on_idle;
  bool auto_resume = false;
};
void add_life_options(CLI::App* cmd, life_words& said);
void put_life(json::object& body, const life_words& said);

/// "ID:/path", as `cp` has it; an empty id: a file of this machine.
struct place_of_file {
  std::string sandbox;
  std::string path;
};
place_of_file parse_place_of_file(const std::string& word);

/// A command about one sandbox: ID stands first.
template <class Words>
std::pair<CLI::App*, std::shared_ptr<Words>>
add_sandbox_session_command(CLI::App* group, invocation& call, const char* name,
                            const char* help,
                            result<int> (*todo)(const Words&, api_client&)) {
  auto [cmd, said] = add_session_command(group, call, name, help, todo);
  cmd->add_option("ID", said->id, "The sandbox")->required();
  return {cmd, said};
}

void add_sandbox_exec_command(CLI::App* group, invocation& call);
void add_sandbox_shell_command(CLI::App* group, invocation& call);
void add_sandbox_run_command(CLI::App* group, invocation& call);
void add_sandbox_context_commands(CLI::App* group, invocation& call);
void add_sandbox_life_commands(CLI::App* group, invocation& call);
void add_sandbox_snapshot_commands(CLI::App* group, invocation& call);
void add_sandbox_file_commands(CLI::App* group, invocation& call);
void add_sandbox_port_commands(CLI::App* group, invocation& call);
void add_sandbox_forward_command(CLI::App* group, invocation& call);

} // namespace troupe
