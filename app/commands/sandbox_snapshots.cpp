// `troupe sandbox snapshot, snapshots, rollback, fork, branch, forget`.
#include "app/cli/commands.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

struct snapshot_words {
  std::string id;
  std::string name;
  bool as_json = false;
};

struct rollback_words {
  std::string id;
  std::string snapshot;
  bool as_json = false;
};

struct fork_words {
  std::string id;
  std::int64_t count = 1;
  std::string timeout;
  std::vector<std::string> env;
  std::vector<std::string> metadata;
  bool as_json = false;
};

struct branch_words : fork_words {
  std::vector<std::string> contexts;
};

struct snapshot_list_words {
  bool as_json = false;
};

result<int> take_snapshot(const snapshot_words& said, api_client& engine) {
  json::object body;
  put_text(body, "name", said.name);
  auto made = engine.call(verb::post, sandbox_target(said.id, "/snapshots"),
                          std::move(body));
  if (!made)
    return made.error();
  std::cout << (said.as_json ? json::to_text(*made) : cell(*made, "id"))
            << "\n";
  return int{exit_ok};
}

result<int> list_snapshots(const snapshot_list_words& said,
                           api_client& engine) {
  auto found = engine.call(verb::get, "/v1/snapshots");
  if (!found)
    return found.error();
  if (said.as_json) {
    std::cout << json::to_text(*found) << "\n";
    return int{exit_ok};
  }
  for (const auto& each : found->as_object().at("items").as_array())
    std::cout << cell(each, "id") << "  " << cell(each, "sandbox") << "  "
              << cell(each, "bytes") << "  " << cell(each, "created_at") << "  "
              << cell(each, "name") << "\n";
  return int{exit_ok};
}

result<int> roll_back(const rollback_words& said, api_client& engine) {
  auto done = engine.call(verb::post, sandbox_target(said.id, "/rollback"),
                          json::object{{"snapshot", said.snapshot}});
  if (!done)
    return done.error();
  std::cout << (said.as_json ? json::to_text(*done) : cell(*done, "state"))
            << "\n";
  return int{exit_ok};
}

/// An id per line; one that could not be made is an error, those that could
/// stay.
result<int> print_forks(const json::value& made) {
  int code = exit_ok;
  for (const auto& each : made.as_object().at("items").as_array()) {
    const auto& o = each.as_object();
    if (const auto* fork = o.if_contains("sandbox")) {
      std::cout << cell(*fork, "id") << "\n";
    } else {
      std::cerr << "troupe: a fork was not made: "
                << cell(o.at("error"), "detail") << "\n";
      code = exit_ours;
    }
  }
  return int{code};
}

/// What is made beside the first one, as it was asked for.
result<json::value> call_for_forks(const fork_words& said, api_client& engine,
                                   const char* path, json::object body) {
  body["count"] = said.count;
  put_text(body, "timeout", said.timeout);
  auto env = variables_object(said.env);
  if (!env)
    return env.error();
  body["env"] = std::move(*env);
  auto metadata = metadata_object(said.metadata);
  if (!metadata)
    return metadata.error();
  body["metadata"] = std::move(*metadata);
  return engine.call(verb::post, sandbox_target(said.id, path),
                     std::move(body));
}

result<int> fork_sandbox(const fork_words& said, api_client& engine) {
  auto made = call_for_forks(said, engine, "/fork", {});
  if (!made)
    return made.error();
  if (!said.as_json)
    return print_forks(*made);
  std::cout << json::to_text(*made) << "\n";
  return int{exit_ok};
}

constexpr std::size_t widest_loss = 300;

/// What does not come along is said beside the ids.
void print_losses(const json::object& made) {
  for (const auto& each : made.at("items").as_array())
    for (const auto& context : each.as_object().at("contexts").as_array())
      for (const auto& lost : context.as_object().at("lost").as_array())
        std::cerr << "troupe: " << cell(context, "id") << " has lost "
                  << one_line(std::string{lost.as_string()}, widest_loss)
                  << "\n";
  for (const auto& left : made.at("left").as_array())
    std::cerr << "troupe: " << cell(left, "id")
              << " was left behind: " << cell(left, "reason") << "\n";
}

result<int> branch_sandbox(const branch_words& said, api_client& engine) {
  json::object body;
  json::array contexts;
  for (const auto& id : said.contexts)
    contexts.emplace_back(id);
  body["contexts"] = std::move(contexts);
  auto made = call_for_forks(said, engine, "/branch", std::move(body));
  if (!made)
    return made.error();
  if (said.as_json) {
    std::cout << json::to_text(*made) << "\n";
    return int{exit_ok};
  }
  print_losses(made->as_object());
  return print_forks(*made);
}

result<int> forget_snapshot(const snapshot_words& said, api_client& engine) {
  auto gone = engine.call(verb::delete_,
                          "/v1/snapshots/" + net::percent_encode(said.id));
  if (!gone)
    return gone.error();
  return print_deleted(said.id, said.as_json);
}

void add_fork_options(CLI::App* cmd, fork_words& said) {
  cmd->add_option("--count", said.count, "How many")->check(CLI::Range(1, 100));
  cmd->add_option("--timeout", said.timeout,
                  "Their lifetime: 5m, 1h (default: that of the first)");
  cmd
    ->add_option("--env", said.env,
                 "NAME=VALUE, or NAME to pass the current value (repeatable)")
    ->allow_extra_args(false);
  cmd
    ->add_option(
      "--metadata", said.metadata,
      "NAME=VALUE in place of the metadata of the first (repeatable)")
    ->allow_extra_args(false);
}

} // namespace

void add_sandbox_snapshot_commands(CLI::App* group, invocation& call) {
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "snapshot",
      "Take a snapshot of the files of a sandbox and print its id",
      take_snapshot);
    cmd->add_option("--name", said->name, "Name, unique in the organization");
  }
  add_session_command(group, call, "snapshots", "List snapshots",
                      list_snapshots);
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "rollback",
      "Restore the files of a snapshot; ends all processes in the sandbox",
      roll_back);
    cmd->add_option("SNAPSHOT", said->snapshot, "A snapshot of this sandbox")
      ->required();
  }
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "fork",
      "Create sandboxes with the same files and print their ids", fork_sandbox);
    add_fork_options(cmd, *said);
  }
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "branch",
      "Make sandboxes with the same files in which its contexts of Python go "
      "on, and print ids",
      branch_sandbox);
    add_fork_options(cmd, *said);
    cmd
      ->add_option("--context", said->contexts,
                   "One that comes along; else all of Python (repeatable)")
      ->allow_extra_args(false);
  }
  {
    auto [cmd, said] = add_session_command(
      group, call, "forget", "Delete a snapshot; what was made from it stays",
      forget_snapshot);
    cmd->add_option("SNAPSHOT", said->id, "Its id or its name")->required();
  }
}

} // namespace troupe
