// `troupe sandbox context`: interpreters of a living sandbox.
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

struct context_words {
  std::string id;
  std::string context;
  std::string language = "python";
  std::string name;
  std::string cwd;
  std::vector<std::string> env;
  bool auto_restart = false;
  bool as_json = false;
};

std::string context_target(const context_words& said,
                           const std::string& more = {}) {
  return sandbox_target(
    said.id, "/contexts/" + net::percent_encode(said.context) + more);
}

result<int> create_context(const context_words& said, api_client& engine) {
  if (auto serves = needs_a_server(engine); !serves)
    return serves.error();
  json::object body{{"language", said.language}};
  if (!said.name.empty())
    body["name"] = said.name;
  if (!said.cwd.empty())
    body["cwd"] = said.cwd;
  if (said.auto_restart)
    body["auto_restart"] = true;
  auto env = variables_object(said.env);
  if (!env)
    return env.error();
  body["env"] = std::move(*env);
  auto made = engine.call(verb::post, sandbox_target(said.id, "/contexts"),
                          std::move(body));
  if (!made)
    return made.error();
  std::cout << (said.as_json ? json::to_text(*made) : cell(*made, "id"))
            << "\n";
  return int{exit_ok};
}

result<int> list_contexts(const context_words& said, api_client& engine) {
  auto all = engine.call(verb::get, sandbox_target(said.id, "/contexts"));
  if (!all)
    return all.error();
  const auto& items = all->at("items").as_array();
  if (said.as_json) {
    std::cout << json::to_text(items) << "\n";
    return int{exit_ok};
  }
  table shown{{"ID", "NAME", "LANGUAGE", "STATE", "CELLS"}};
  for (const auto& item : items)
    shown.add({cell(item, "id"), cell(item, "name"), cell(item, "language"),
               cell(item, "state"), cell(item, "execution_count")});
  shown.show();
  return int{exit_ok};
}

result<int> print_member(const result<json::value>& answer,
                         const context_words& said, std::string_view member) {
  if (!answer)
    return answer.error();
  std::cout << (said.as_json ? json::to_text(*answer) : cell(*answer, member))
            << "\n";
  return int{exit_ok};
}

result<int> interrupt_context(const context_words& said, api_client& engine) {
  return print_member(
    engine.call(verb::post, context_target(said, "/interrupt")), said,
    "interrupted");
}

result<int> restart_context(const context_words& said, api_client& engine) {
  return print_member(engine.call(verb::post, context_target(said, "/restart")),
                      said, "state");
}

result<int> delete_context(const context_words& said, api_client& engine) {
  auto gone = engine.call(verb::delete_, context_target(said));
  if (!gone)
    return gone.error();
  return print_deleted(said.context, said.as_json);
}

} // namespace

void add_sandbox_context_commands(CLI::App* group, invocation& call) {
  auto contexts = group->add_subcommand(
    "context", "Interpreters that keep their state between cells");
  {
    auto [cmd, said] = add_sandbox_session_command(
      contexts, call, "create", "Start a context and print its id",
      create_context);
    cmd->add_option("--language", said->language,
                    "python, javascript, typescript or bash");
    cmd->add_option("--name", said->name, "A name");
    cmd->add_option("--cwd", said->cwd, "Working directory");
    cmd
      ->add_option("--env", said->env,
                   "NAME=VALUE, or NAME to pass the current value (repeatable)")
      ->allow_extra_args(false);
    cmd->add_flag("--auto-restart", said->auto_restart,
                  "If the context is lost, start a new one with the next cell");
  }
  add_sandbox_session_command(contexts, call, "list",
                              "List the contexts of a sandbox", list_contexts);
  const auto about_one
    = [&](const char* name, const char* help,
          result<int> (*todo)(const context_words&, api_client&)) {
        auto [cmd, said]
          = add_sandbox_session_command(contexts, call, name, help, todo);
        cmd->add_option("CONTEXT", said->context, "Context id")->required();
      };
  about_one("interrupt", "Interrupt the running cell; the state is kept",
            interrupt_context);
  about_one("restart", "Restart a context with an empty state",
            restart_context);
  about_one("delete", "Delete a context", delete_context);
}

} // namespace troupe
