// `troupe sandbox connect, pause, resume, set, events`.
#include "app/cli/commands.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

void add_life_options(CLI::App* cmd, life_words& said) {
  cmd->add_option("--on-timeout", said.on_timeout,
                  "Action at the timeout: delete or pause");
  cmd->add_option("--idle-timeout", said.idle_timeout,
                  "End it after this long without use: 10m");
  cmd->add_option("--on-idle", said.on_idle,
                  "Action when idle: delete or pause");
  cmd->add_flag("--auto-resume", said.auto_resume,
                "Resume it by itself when a request needs it");
}

void put_life(json::object& body, const life_words& said) {
  put_text(body, "on_timeout", said.on_timeout);
  put_text(body, "idle_timeout", said.idle_timeout);
  put_text(body, "on_idle", said.on_idle);
  if (said.auto_resume)
    body["auto_resume"] = true;
}

namespace {

using verb = api_client::verb;

struct life_of_one {
  std::string id;
  std::string timeout;
  bool as_json = false;
};

struct set_words {
  std::string id;
  std::string timeout;
  life_words life;
  std::string network;
  std::vector<std::string> metadata;
  std::vector<std::string> without;
  bool as_json = false;
};

struct event_words {
  std::string id;
  std::string after;
  bool follows = false;
  bool as_json = false;
};

result<int> print_state(const result<json::value>& came, bool as_json) {
  if (!came)
    return came.error();
  std::cout << (as_json ? json::to_text(*came) : cell(*came, "state")) << "\n";
  return int{exit_ok};
}

result<int> connect_sandbox(const life_of_one& said, api_client& engine) {
  json::object body;
  put_text(body, "timeout", said.timeout);
  return print_state(engine.call(verb::post,
                                 sandbox_target(said.id, "/connect"),
                                 std::move(body)),
                     said.as_json);
}

result<int> pause_sandbox(const life_of_one& said, api_client& engine) {
  return print_state(engine.call(verb::post, sandbox_target(said.id, "/pause")),
                     said.as_json);
}

result<int> resume_sandbox(const life_of_one& said, api_client& engine) {
  return print_state(
    engine.call(verb::post, sandbox_target(said.id, "/resume")), said.as_json);
}

result<int> set_sandbox(const set_words& said, api_client& engine) {
  json::object body;
  put_text(body, "timeout", said.timeout);
  put_life(body, said.life);
  if (!said.network.empty())
    body["network"] = network_object(said.network);
  auto metadata = metadata_object(said.metadata);
  if (!metadata)
    return metadata.error();
  for (const auto& name : said.without)
    (*metadata)[name] = nullptr;
  if (!metadata->empty())
    body["metadata"] = std::move(*metadata);
  if (body.empty())
    return fail(ec::invalid_request,
                "nothing is to be changed; see `troupe sandbox set --help`");
  return print_state(
    engine.call(verb::patch, sandbox_target(said.id), std::move(body)),
    said.as_json);
}

void print_event(const json::object& e, bool as_json) {
  if (as_json) {
    std::cout << json::to_text(e) << std::endl;
    return;
  }
  std::cout << cell(e, "number") << "  " << cell(e, "at") << "  "
            << cell(e, "type");
  for (const char* name : {"state", "process", "reason"})
    if (const auto text = cell(e, name); !text.empty())
      std::cout << "  " << text;
  std::cout << std::endl;
}

result<int> show_events(const event_words& said, api_client& engine) {
  auto hear = [&](json::object& e) -> result<void> {
    const auto type = cell(e, "type");
    if (type == "error")
      return read_error(e.at("error").as_object(), ec::unavailable);
    if (type != "end")
      print_event(e, said.as_json);
    return {};
  };
  const auto after = said.after.empty()
    ? std::string{}
    : "&after=" + net::percent_encode(said.after);
  const auto target = sandbox_target(said.id, "/events?follow=")
    + (said.follows ? "true" : "false") + after;
  if (said.follows) {
    auto heard = engine.follow(verb::get, target, {}, hear);
    return heard ? result<int>{int{exit_ok}} : heard.error();
  }
  auto found = engine.call(verb::get, target);
  if (!found)
    return found.error();
  for (auto& each : found->as_object().at("items").as_array())
    if (auto heard = hear(each.as_object()); !heard)
      return heard.error();
  return int{exit_ok};
}

} // namespace

void add_sandbox_life_commands(CLI::App* group, invocation& call) {
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "connect",
      "Resume a sandbox if it is paused, and count as a use of it",
      connect_sandbox);
    cmd->add_option("--timeout", said->timeout,
                    "New lifetime, from now: 5m, 1h");
  }
  add_sandbox_session_command(
    group, call, "pause",
    "Pause a sandbox: its processes stop and stay in memory", pause_sandbox);
  add_sandbox_session_command(group, call, "resume", "Resume a paused sandbox",
                              resume_sandbox);
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "set", "Change labels, clocks and the network of a sandbox",
      set_sandbox);
    cmd->add_option("--timeout", said->timeout,
                    "New lifetime, from now: 5m, 1h");
    add_life_options(cmd, said->life);
    cmd->add_option("--network", said->network,
                    "off, public or allow=host,host:port; connections that it "
                    "refuses end");
    cmd
      ->add_option("--metadata", said->metadata,
                   "NAME=VALUE, to find it again (repeatable)")
      ->allow_extra_args(false);
    cmd
      ->add_option("--without", said->without,
                   "Remove this name from the metadata (repeatable)")
      ->allow_extra_args(false);
  }
  {
    auto [cmd, said] = add_sandbox_session_command(
      group, call, "events", "Print the events of a sandbox", show_events);
    cmd->add_option("--after", said->after, "Only events after this number");
    cmd->add_flag("--follow", said->follows,
                  "Keep printing until the sandbox ends");
  }
}

} // namespace troupe
