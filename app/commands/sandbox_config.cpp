#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/details.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"

#include <unistd.h>

#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_client::verb;

struct sandbox_config_options {
  std::string type;
  std::string config;
  bool as_json = false;
};
using words_ptr = std::shared_ptr<sandbox_config_options>;

/// What a config changes. Letta's clients find members with defaults in it that
/// have no effect here: its usual sandbox_dir, and a venv that is not used.
json::object effective(const json::value& item) {
  constexpr std::string_view usual = "/.letta/tool_execution_dir";
  auto config = item.at("config").as_object();
  const auto* venv = config.if_contains("use_venv");
  if (!venv || !venv->is_bool() || !venv->get_bool()) {
    config.erase("use_venv");
    config.erase("venv_name");
  }
  if (cell(item.at("config"), "sandbox_dir").ends_with(usual))
    config.erase("sandbox_dir");
  if (const auto* none = config.if_contains("pip_requirements");
      none && none->is_array() && none->get_array().empty())
    config.erase("pip_requirements");
  return config;
}

std::string effective_text(const json::value& item) {
  const auto config = effective(item);
  return config.empty() ? "defaults" : json::to_text(config);
}

result<int> list_configs(const sandbox_config_options& said,
                         api_client& engine) {
  auto all = engine.list("/v1/sandbox-configs");
  if (!all)
    return all.error();
  if (said.as_json) {
    std::cout << json::to_text(*all) << "\n";
    return int{exit_ok};
  }
  table rows{{"TYPE", "ID", "REVISION", "CONFIG"}};
  for (const auto& c : *all)
    rows.add(
      {cell(c, "type"), cell(c, "id"), cell(c, "revision"), effective_text(c)});
  rows.show();
  return int{exit_ok};
}

result<int> show_config(const sandbox_config_options& said,
                        api_client& engine) {
  auto config = engine.call(verb::post, "/v1/sandbox-configs/default",
                            json::object{{"type", said.type}});
  if (!config)
    return config.error();
  if (::isatty(STDOUT_FILENO) == 1 && !said.as_json)
    config->as_object()["config"] = effective(*config);
  show_details(*config, said.as_json);
  return int{exit_ok};
}

result<int> set_config(const sandbox_config_options& said, api_client& engine) {
  auto wanted = said_object(said.config, "CONFIG");
  if (!wanted)
    return wanted.error();
  json::object body{{"type", said.type}};
  body["config"] = std::move(*wanted);
  auto config = engine.call(verb::post, "/v1/sandbox-configs", std::move(body));
  if (!config)
    return config.error();
  std::cout << json::to_text(*config) << "\n";
  return int{exit_ok};
}

result<int> remove_config(const sandbox_config_options& said,
                          api_client& engine) {
  auto all = engine.list("/v1/sandbox-configs", "type=" + said.type);
  if (!all)
    return all.error();
  if (all->empty())
    return bad_field("TYPE", "there is no config for " + said.type,
                     "run `troupe sandbox-config list` for a list");
  auto gone = engine.call(verb::delete_,
                          "/v1/sandbox-configs/" + cell(all->front(), "id"));
  if (!gone)
    return gone.error();
  return print_deleted(said.type, said.as_json);
}

void add_type(CLI::App* cmd, const words_ptr& said) {
  cmd->add_option("TYPE", said->type, "local, e2b, modal, daytona or aio")
    ->required()
    ->check(CLI::IsMember({"local", "e2b", "modal", "daytona", "aio"}));
}

} // namespace

void add_sandbox_config_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand("sandbox-config",
                                  "Manage the sandbox configs of backends");
  add_session_command(group, call, "list", "List sandbox configs",
                      list_configs);
  {
    auto [cmd, said] = add_session_command(
      group, call, "show", "Show a config; JSON unless on a terminal",
      show_config);
    add_type(cmd, said);
  }
  {
    auto [cmd, said]
      = add_session_command(group, call, "set", "Replace a config", set_config);
    add_type(cmd, said);
    cmd->add_option("CONFIG", said->config, "A JSON object, @file, or -")
      ->required();
  }
  {
    auto [cmd, said]
      = add_session_command(group, call, "delete",
                            "Delete a config and its variables", remove_config);
    add_type(cmd, said);
  }
}

} // namespace troupe
