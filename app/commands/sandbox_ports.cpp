// Ports of living sandboxes: ports, open, close.
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

struct ports_words {
  std::string id;
  bool as_json = false;
};

struct port_words {
  std::string id;
  std::string port;
  std::int64_t seconds = 0; // 0: as the engine has it
  bool to_all = false;
  bool as_json = false;
};

std::string port_target(const port_words& said) {
  return sandbox_target(said.id, "/ports/" + net::percent_encode(said.port));
}

result<int> list_ports(const ports_words& said, api_client& engine) {
  auto found = engine.call(verb::get, sandbox_target(said.id, "/ports"));
  if (!found)
    return found.error();
  const auto& items = found->at("items");
  if (said.as_json) {
    std::cout << json::to_text(items) << "\n";
    return int{exit_ok};
  }
  table rows{{"PORT", "LISTENING", "OPENED", "PUBLIC"}};
  for (const auto& one : items.as_array())
    rows.add({cell(one, "port"), cell(one, "listening"), cell(one, "opened"),
              cell(one, "public")});
  rows.show();
  return int{exit_ok};
}

/// A URL to click on; without a listener for host names one for programs.
result<int> open_port(const port_words& said, api_client& engine) {
  json::object body;
  if (said.seconds != 0)
    body["expires_in"] = said.seconds;
  if (said.to_all)
    body["public"] = true;
  auto opened = engine.call(verb::post, port_target(said), std::move(body));
  if (!opened)
    return opened.error();
  if (said.as_json) {
    std::cout << json::to_text(*opened) << "\n";
    return int{exit_ok};
  }
  const auto url = cell(*opened, "url");
  std::cout << (url.empty() ? engine.where() + cell(*opened, "path_url") : url)
            << "\n";
  if (url.empty())
    std::cerr << "troupe: for a browser set sandbox.preview-listen; what is "
                 "shown by path may not set cookies\n";
  return int{exit_ok};
}

result<int> close_port(const port_words& said, api_client& engine) {
  auto closed = engine.call(verb::delete_, port_target(said));
  if (!closed)
    return closed.error();
  return print_deleted(said.port, said.as_json);
}

} // namespace

void add_sandbox_port_commands(CLI::App* group, invocation& call) {
  add_sandbox_session_command(
    group, call, "ports",
    "List the ports of a sandbox that something listens on", list_ports);
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "open", "Print a URL for a port of a sandbox", open_port);
    cmd
      ->add_option("PORT", said->port,
                   "Port that a server in the sandbox listens on")
      ->required();
    cmd->add_option("--expires-in", said->seconds,
                    "How long the URL works, in seconds");
    cmd->add_flag("--public", said->to_all,
                  "No token in the URL: anybody may use it");
  }
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "close", "End all URLs for a port of a sandbox", close_port);
    cmd->add_option("PORT", said->port, "The port")->required();
  }
}

} // namespace troupe
