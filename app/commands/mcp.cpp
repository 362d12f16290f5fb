// `troupe mcp`: tools of agents for a client of the Model Context Protocol, and
// what to write into its configuration.
#include "app/bridges/mcp_bridge.hpp"
#include "app/cli/commands.hpp"
#include "runtime/json/json.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

struct command_words {
  mcp_words served;
  std::string action; // "" or "install"
  std::string client;
};

/// The members of one server, as every client has them.
json::object server_entry(const command_words& said,
                          const session_options& how) {
  json::array words{"mcp"};
  for (const auto& [name, value] : {std::pair{"--session", said.served.session},
                                    {"--toolsets", said.served.toolsets},
                                    {"--tools", said.served.tools},
                                    {"--exclude", said.served.exclude},
                                    {"--server", how.server}})
    if (!value.empty()) {
      words.emplace_back(name);
      words.emplace_back(value);
    }
  if (said.served.read_only)
    words.emplace_back("--read-only");
  return {{"command", "troupe"}, {"args", std::move(words)}};
}

int print_configuration(const command_words& said, const session_options& how) {
  if (said.client.empty())
    return print_error("install: name the client: claude, cursor or vscode");
  auto entry = server_entry(said, how);
  std::string_view list = "mcpServers", where = ".mcp.json in the project";
  if (said.client == "vscode") {
    entry["type"] = "stdio";
    list = "servers";
    where = ".vscode/mcp.json in the project";
  } else if (said.client == "cursor") {
    where = ".cursor/mcp.json in the project, or ~/.cursor/mcp.json";
  }
  std::cerr << "# for " << where << "\n";
  std::cout << json::to_text(
    json::object{{list, json::object{{"troupe", std::move(entry)}}}})
            << "\n";
  return exit_ok;
}

} // namespace

void add_mcp_command(CLI::App& app, invocation& call) {
  auto said = std::make_shared<command_words>();
  auto cmd = app.add_subcommand(
    "mcp", "Serve an MCP client on standard input and output");
  cmd
    ->add_option("ACTION", said->action,
                 "`install` prints what a client's configuration needs instead")
    ->check(CLI::IsMember({"install"}));
  cmd->add_option("CLIENT", said->client, "claude, cursor or vscode")
    ->check(CLI::IsMember({"claude", "cursor", "vscode"}));
  auto& served = said->served;
  cmd->add_option("--session", served.session,
                  "Session to work in (default: TROUPE_SESSION, else that of "
                  "the key)");
  cmd->add_option("--toolsets", served.toolsets,
                  "Only tools of these sets: files, shell, git, code, system, "
                  "sandbox, tools");
  cmd->add_option("--tools", served.tools,
                  "Only these tools, or beside --toolsets these as well");
  cmd->add_option("--exclude", served.exclude, "None of these tools");
  cmd->add_flag("--read-only", served.read_only,
                "Only tools that change nothing");
  auto how = add_session_options(*cmd);
  call.on(cmd, [said, how] {
    return said->action.empty() ? serve_mcp(said->served, *how)
                                : print_configuration(*said, *how);
  });
}

} // namespace troupe
