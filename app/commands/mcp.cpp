// `troupe mcp`: tools of agents for a client of the Model Context Protocol, and
// what to write into its configuration.
#include "app/bridges/mcp_bridge.hpp"
#include "app/cli/commands.hpp"
#include "runtime/json/json.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

struct install_words {
  std::string client;
  std::string session;
  std::string server;
};

/// The members of one server, as every client has them.
json::object server_entry(const install_words& said) {
  json::array words{"mcp"};
  if (!said.session.empty()) {
    words.emplace_back("--session");
    words.emplace_back(said.session);
  }
  if (!said.server.empty()) {
    words.emplace_back("--server");
    words.emplace_back(said.server);
  }
  return {{"command", "troupe"}, {"args", std::move(words)}};
}

int print_configuration(const install_words& said) {
  auto entry = server_entry(said);
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
  auto said = std::make_shared<mcp_words>();
  auto cmd = app.add_subcommand(
    "mcp", "Serve an MCP client on standard input and output");
  cmd->require_subcommand(0, 1);
  cmd->add_option("--session", said->session,
                  "Session to work in (default: TROUPE_SESSION, else that of "
                  "the key)");
  cmd->add_option("--toolsets", said->toolsets,
                  "Only tools of these sets: files, shell, git, code, system, "
                  "sandbox, tools");
  cmd->add_option("--tools", said->tools,
                  "Only these tools, or beside --toolsets these as well");
  cmd->add_option("--exclude", said->exclude, "None of these tools");
  cmd->add_flag("--read-only", said->read_only,
                "Only tools that change nothing");
  auto how = add_session_options(*cmd);
  call.on(cmd, [said, how] { return serve_mcp(*said, *how); });

  auto words = std::make_shared<install_words>();
  auto install = cmd->add_subcommand(
    "install", "Print the configuration of a client for this command");
  install->add_option("CLIENT", words->client, "claude, cursor or vscode")
    ->required()
    ->check(CLI::IsMember({"claude", "cursor", "vscode"}));
  install->add_option("--session", words->session, "Session to work in");
  install->add_option("--server", words->server, "URL of the engine")
    ->type_name("URL");
  call.on(install, [words] { return print_configuration(*words); });
}

} // namespace troupe
