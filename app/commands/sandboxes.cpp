#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

result<void> needs_a_server(const api_client& engine) {
  if (!engine.is_embedded())
    return {};
  return fail(ec::unavailable,
              "no engine serves, and a sandbox would end with this command; "
              "start one with `troupe serve`, or name it with --server");
}

std::string sandbox_target(const std::string& id, const std::string& more) {
  return "/v1/sandboxes/" + net::percent_encode(id) + more;
}

result<json::object> variables_object(const std::vector<std::string>& words) {
  auto env = said_variables(words, "--env");
  if (!env)
    return env.error();
  json::object variables;
  for (const auto& [name, value] : *env)
    variables[name] = value.reveal();
  return variables;
}

result<json::object> metadata_object(const std::vector<std::string>& pairs) {
  json::object metadata;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == pair.npos || equals == 0)
      return bad_field("--metadata", "'" + pair + "' is no pair",
                       "write NAME=VALUE");
    metadata[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return metadata;
}

void put_text(json::object& o, const char* name, const std::string& text) {
  if (!text.empty())
    o[name] = text;
}

json::value network_object(const std::string& said) {
  constexpr std::string_view list = "allow=";
  if (!said.starts_with(list))
    return json::value(said);
  json::array hosts;
  for (std::string_view rest = std::string_view{said}.substr(list.size());
       !rest.empty();) {
    const auto one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    hosts.emplace_back(one);
  }
  return json::object{{"allow", std::move(hosts)}};
}

namespace {

using verb = api_client::verb;

struct create_words {
  std::string name;
  std::string template_name;
  std::string place;
  std::string timeout;
  life_words life;
  std::string session;
  std::string snapshot;
  std::string network;
  std::string git;
  std::string git_branch;
  std::string isolation;
  std::string memory;
  std::vector<std::string> env;
  std::vector<std::string> metadata;
  bool does_not_wait = false;
  bool as_json = false;
};

struct one_sandbox {
  std::string id;
  std::string timeout;
  bool as_json = false;
};

struct list_words {
  std::string state;
  std::string name;
  bool as_json = false;
};

/// The id alone, to be used in the next command.
void print_sandbox(const json::value& made, bool as_json) {
  std::cout << (as_json ? json::to_text(made) : cell(made, "id")) << "\n";
}

result<json::object> spec_of(const create_words& said) {
  json::object body;
  put_text(body, "name", said.name);
  put_text(body, "template", said.template_name);
  put_text(body, "place", said.place);
  put_text(body, "timeout", said.timeout);
  put_life(body, said.life);
  put_text(body, "session", said.session);
  put_text(body, "snapshot", said.snapshot);
  put_text(body, "isolation", said.isolation);
  if (!said.network.empty())
    body["network"] = network_object(said.network);
  if (!said.git.empty()) {
    body["git"] = json::object{{"url", said.git}};
    put_text(body["git"].as_object(), "branch", said.git_branch);
  }
  if (!said.memory.empty())
    body["resources"] = json::object{{"memory_bytes", said.memory}};
  if (said.does_not_wait)
    body["wait"] = "none";
  auto env = variables_object(said.env);
  if (!env)
    return env.error();
  body["env"] = std::move(*env);
  auto metadata = metadata_object(said.metadata);
  if (!metadata)
    return metadata.error();
  body["metadata"] = std::move(*metadata);
  return body;
}

result<int> create_sandbox(const create_words& said, api_client& engine) {
  if (auto serves = needs_a_server(engine); !serves)
    return serves.error();
  auto body = spec_of(said);
  if (!body)
    return body.error();
  auto made = engine.call(verb::post, "/v1/sandboxes", std::move(*body));
  if (!made)
    return made.error();
  print_sandbox(*made, said.as_json);
  return int{exit_ok};
}

result<int> list_sandboxes(const list_words& said, api_client& engine) {
  std::string query;
  auto add = [&query](const char* name, const std::string& value) {
    if (!value.empty())
      query += (query.empty() ? "" : "&") + std::string{name} + "="
        + net::percent_encode(value);
  };
  add("state", said.state);
  add("name", said.name);
  return print_list(engine, "/v1/sandboxes", said.as_json,
                    {{"ID", "id"},
                     {"NAME", "name"},
                     {"STATE", "state"},
                     {"PLACE", "place"},
                     {"ENDS", "ends_at"}},
                    query);
}

result<int> show_sandbox(const one_sandbox& said, api_client& engine) {
  auto found = engine.call(verb::get, sandbox_target(said.id));
  if (!found)
    return found.error();
  std::cout << json::to_text(*found) << "\n";
  return int{exit_ok};
}

result<int> renew_sandbox(const one_sandbox& said, api_client& engine) {
  auto renewed = engine.call(verb::post, sandbox_target(said.id, "/renew"),
                             json::object{{"timeout", said.timeout}});
  if (!renewed)
    return renewed.error();
  std::cout << (said.as_json ? json::to_text(*renewed)
                             : cell(*renewed, "ends_at"))
            << "\n";
  return int{exit_ok};
}

result<int> delete_sandbox(const one_sandbox& said, api_client& engine) {
  auto gone = engine.call(verb::delete_, sandbox_target(said.id));
  if (!gone)
    return gone.error();
  return print_deleted(said.id, said.as_json);
}

void add_create_command(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_session_command(
    group, call, "create", "Create a sandbox and print its id", create_sandbox);
  cmd->add_option("--name", said->name, "Name, unique in the organization");
  cmd->add_option("--template", said->template_name,
                  "Template to create it from");
  cmd->add_option("--place", said->place,
                  "local, e2b, daytona, modal, aio, or an account of these");
  cmd->add_option("--timeout", said->timeout, "Lifetime: 5m, 1h");
  add_life_options(cmd, said->life);
  cmd->add_option(
    "--session", said->session,
    "Session, such as of a chat: there is one sandbox per session");
  cmd->add_option("--snapshot", said->snapshot,
                  "Snapshot to create it from, by id or name");
  cmd->add_option("--network", said->network,
                  "off, public or allow=host,host:port");
  cmd->add_option("--git", said->git,
                  "The URL of a repository that is cloned before it runs");
  cmd->add_option("--git-branch", said->git_branch, "A branch or a tag of it");
  cmd->add_option("--isolation", said->isolation,
                  "strict, standard or best-effort");
  cmd->add_option("--memory", said->memory, "256MiB");
  cmd
    ->add_option("--env", said->env,
                 "NAME=VALUE, or NAME to pass the current value (repeatable)")
    ->allow_extra_args(false);
  cmd
    ->add_option("--metadata", said->metadata,
                 "NAME=VALUE, to find it again (repeatable)")
    ->allow_extra_args(false);
  cmd->add_flag("--no-wait", said->does_not_wait,
                "Do not wait until it is running");
}

} // namespace

void add_sandboxes_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand(
    "sandbox", "Create and use sandboxes that live between calls");
  add_create_command(group, call);
  {
    auto [cmd, said] = add_session_command(group, call, "list",
                                           "List sandboxes", list_sandboxes);
    cmd->add_option("--state", said->state, "Only sandboxes in this state");
    cmd->add_option("--name", said->name, "Only the sandbox of this name");
  }
  add_sandbox_session_command(group, call, "show", "Show a sandbox as JSON",
                              show_sandbox);
  add_sandbox_exec_command(group, call);
  add_sandbox_shell_command(group, call);
  add_sandbox_run_command(group, call);
  add_sandbox_context_commands(group, call);
  add_sandbox_file_commands(group, call);
  add_sandbox_port_commands(group, call);
  add_sandbox_forward_command(group, call);
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "renew", "Set the lifetime of a sandbox, from now",
      renew_sandbox);
    cmd->add_option("TIMEOUT", said->timeout, "5m, 1h")->required();
  }
  add_sandbox_life_commands(group, call);
  add_sandbox_snapshot_commands(group, call);
  add_sandbox_session_command(group, call, "delete",
                              "Delete a sandbox and everything in it",
                              delete_sandbox);
}

} // namespace troupe
