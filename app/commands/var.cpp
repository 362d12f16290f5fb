#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "app/commands/letta_import.hpp"
#include "net/http/url.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_client::verb;

/// Variables belong to the sandbox config of a type, or to an agent.
struct var_options {
  std::string type = "local";
  std::string agent;
  std::vector<std::string> names; // of the command: NAME=VALUE or NAME
  bool as_json = false;
};

std::string agent_path(const var_options& said) {
  return "/v1/agents/" + net::percent_encode(said.agent) + "/variables";
}

/// The variables of the type's config, which is made where there is none.
result<std::string> config_path(const var_options& said, api_client& engine) {
  auto config = engine.call(verb::post, "/v1/sandbox-configs/default",
                            json::object{{"type", said.type}});
  if (!config)
    return config.error();
  return "/v1/sandbox-configs/" + cell(*config, "id") + "/variables";
}

result<json::array> variables_of(const var_options& said, api_client& engine) {
  if (said.agent.empty()) {
    auto path = config_path(said, engine);
    return path ? engine.list(*path) : path.error();
  }
  auto all = engine.call(verb::get, agent_path(said));
  if (!all)
    return all.error();
  return std::move(all->as_object()["items"].as_array());
}

result<int> list_variables(const var_options& said, api_client& engine) {
  auto all = variables_of(said, engine);
  if (!all)
    return all.error();
  if (said.as_json) {
    std::cout << json::to_text(*all) << "\n";
    return int{exit_ok};
  }
  table rows{{"NAME", "CHANGED", "DESCRIPTION"}}; // a value is never read
  for (const auto& v : *all)
    rows.add({cell(v, "key"), cell(v, "updated_at"), cell(v, "description")});
  rows.show();
  return int{exit_ok};
}

result<void> set_for_agent(const var_options& said, const environment& values,
                           api_client& engine) {
  json::object all;
  for (const auto& [name, value] : values)
    all[name] = value.reveal();
  auto done = engine.call(verb::patch, agent_path(said),
                          json::object{{"values", std::move(all)}});
  if (!done)
    return done.error();
  return {};
}

result<void> set_all(const var_options& said, const environment& values,
                     api_client& engine) {
  if (!said.agent.empty())
    return set_for_agent(said, values, engine);
  auto path = config_path(said, engine);
  if (!path)
    return path.error();
  for (const auto& [name, value] : values) {
    json::object body{{"key", name}};
    body["value"] = value.reveal();
    auto done = engine.call(verb::post, *path, std::move(body));
    if (!done)
      return std::move(done).error().within(name);
  }
  return {};
}

/// The names that were `done` something to.
int tell_names(const var_options& said, const char* done, json::array names) {
  const json::value all(json::object{{done, std::move(names)}});
  if (said.as_json)
    std::cout << json::to_text(all) << "\n";
  else
    std::cout << done << " " << cell(all, done) << "\n";
  return exit_ok;
}

/// What every run looks programs and modules up by.
void warn_of_paths(const environment& values) {
  for (auto name : {"PATH", "PYTHONPATH"})
    if (values.contains(name))
      std::cerr << "troupe: warning: " << name
                << " replaces the one that runs have otherwise\n";
}

json::array names_of(const environment& values) {
  json::array names;
  for (const auto& [name, value] : values)
    names.emplace_back(name);
  return names;
}

result<int> set_variables(const var_options& said, api_client& engine) {
  auto values = said_variables(said.names, "NAME=VALUE");
  if (!values)
    return values.error();
  if (auto done = set_all(said, *values, engine); !done)
    return done.error();
  warn_of_paths(*values);
  return tell_names(said, "set", names_of(*values));
}

/// What a Letta server had stored, opened here and kept as our own.
result<int> import_variables(const var_options& said, const secret& master,
                             api_client& engine) {
  auto text = read_said_file(said.names.front(), "FILE");
  if (!text)
    return text.error();
  auto values = read_letta_export(*text, master);
  if (!values)
    return values.error();
  if (auto done = set_all(said, *values, engine); !done)
    return done.error();
  return tell_names(said, "imported", names_of(*values));
}

result<int> unset_variables(const var_options& said, api_client& engine) {
  auto all = variables_of(said, engine);
  if (!all)
    return all.error();
  for (const auto& name : said.names) {
    std::string path;
    for (const auto& v : *all)
      if (cell(v, "key") == name)
        path = said.agent.empty()
          ? "/v1/variables/" + cell(v, "id")
          : agent_path(said) + "/" + net::percent_encode(name);
    if (path.empty())
      return fail(ec::not_found,
                  name + " is not set; run `troupe var list` for a list");
    auto gone = engine.call(verb::delete_, path);
    if (!gone)
      return std::move(gone).error().within(name);
  }
  return tell_names(said, "unset",
                    json::array(said.names.begin(), said.names.end()));
}

using add_result = std::pair<CLI::App*, std::shared_ptr<var_options>>;

/// The two options that say whose variables are meant.
void add_owner(CLI::App& cmd, var_options& said) {
  auto type = cmd.add_option("--type", said.type,
                             "Backend type: local, e2b, modal, daytona or aio");
  cmd.add_option("--agent", said.agent, "Variables of this agent instead")
    ->excludes(type);
}

/// It needs a setting beside the engine: the key of the server before us.
void add_import(CLI::App* group, invocation& call) {
  auto said = std::make_shared<var_options>();
  auto cmd = group->add_subcommand(
    "import", "Import variables of a Letta server from CSV or JSON");
  cmd
    ->add_option("FILE", said->names,
                 "Names and stored values; - for stdin; encrypted values need "
                 "LETTA_ENCRYPTION_KEY")
    ->required()
    ->expected(1);
  add_owner(*cmd, *said);
  cmd->add_flag("--json", said->as_json, "Print JSON");
  auto session = add_session_options(*cmd);
  call.on(cmd, [said, session] {
    auto loaded = session->from->load();
    if (!loaded)
      return print_error(loaded.error());
    auto master = loaded->values.compat.letta_encryption_key;
    return in_session(*session, [&](api_client& engine) {
      return import_variables(*said, master, engine);
    });
  });
}

add_result add(CLI::App* group, invocation& call, const char* name,
               const char* help,
               result<int> (*todo)(const var_options&, api_client&)) {
  auto [cmd, said] = add_session_command(group, call, name, help, todo);
  add_owner(*cmd, *said);
  return {cmd, said};
}

} // namespace

void add_var_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand(
    "var", "Manage environment variables of tools, stored encrypted");
  { add(group, call, "list", "List names, never values", list_variables); }
  {
    auto [cmd, said]
      = add(group, call, "set", "Create or replace variables", set_variables);
    cmd
      ->add_option("NAME=VALUE", said->names,
                   "NAME alone takes the value from the environment, which "
                   "keeps it out of the shell history")
      ->required();
  }
  {
    auto [cmd, said]
      = add(group, call, "unset", "Delete variables", unset_variables);
    cmd->add_option("NAME", said->names, "Which")->required();
  }
  add_import(group, call);
}

} // namespace troupe
