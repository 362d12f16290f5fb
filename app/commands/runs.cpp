#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/details.hpp"
#include "app/cli/run_output.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

// What a person wants to see first.
constexpr std::size_t usual_runs = 20;

struct runs_words {
  std::string id; // of a run; a tool where one is to be explained
  std::string args = "{}";
  std::string backend;
  std::size_t count = usual_runs;
  bool follow = false;
  bool as_json = false;
};

std::string run_path(const runs_words& said) {
  return "/v1/runs/" + net::percent_encode(said.id);
}

// -- list, show, logs ---------------------------------------------------------

/// How it ended, or how far it is.
std::string state_of(const json::value& run) {
  const auto& o = run.get_object();
  if (auto* ended = o.if_contains("result"); ended && ended->is_object())
    return state_of(*ended);
  if (auto* status = o.if_contains("status"); status && status->is_string()) {
    // The word to switch on, and why where that says more.
    const auto word = cell(run, "status");
    const auto reason = cell(run, "reason");
    const bool plain = word == "success" || word == reason;
    return plain ? word : word + " (" + reason + ")";
  }
  if (auto* e = o.if_contains("error"); e && e->is_object())
    return cell(*e, "code");
  return cell(run, "phase");
}

result<int> list_runs(const runs_words& said, api_client& engine) {
  auto all = engine.list("/v1/runs", {}, said.count);
  if (!all)
    return all.error();
  if (said.as_json) {
    std::cout << json::to_text(*all) << "\n";
    return int{exit_ok};
  }
  table rows{{"ID", "TOOL", "STATE", "BACKEND", "BEGUN", "ENDED"}};
  for (const auto& run : *all)
    rows.add({cell(run, "id"), cell(run, "tool_name"), state_of(run),
              cell(run, "backend"), cell(run, "created_at"),
              cell(run, "ended_at")});
  rows.show();
  return int{exit_ok};
}

result<int> show_run(const runs_words& said, api_client& engine) {
  auto run = engine.call(verb::get, run_path(said));
  if (!run)
    return run.error();
  show_details(*run, said.as_json);
  return int{exit_ok};
}

/// Where the tool wrote it: each on its own.
result<int> print_logs(const runs_words& said, api_client& engine) {
  if (said.follow) { // its output alone: the result is for `runs follow`
    auto done = follow_run(engine, verb::get, run_path(said) + "/events");
    return done ? result<int>{int{exit_ok}} : result<int>{done.error()};
  }
  auto logs = engine.call(verb::get, run_path(said) + "/logs");
  if (!logs)
    return logs.error();
  if (said.as_json) {
    std::cout << json::to_text(*logs) << "\n";
    return int{exit_ok};
  }
  std::cout << cell(*logs, "stdout") << std::flush;
  std::cerr << cell(*logs, "stderr");
  if (cell(*logs, "stdout_truncated") == "true"
      || cell(*logs, "stderr_truncated") == "true")
    std::cerr << "troupe: the output was truncated at its limit\n";
  if (auto phase = cell(*logs, "phase"); phase != "ended")
    std::cerr << "troupe: the run goes on (" << phase
              << "): `troupe runs follow " << said.id << "`\n";
  return int{exit_ok};
}

// -- cancel, follow -----------------------------------------------------------

result<int> cancel_run(const runs_words& said, api_client& engine) {
  auto run = engine.call(verb::post, run_path(said) + "/cancel");
  if (!run)
    return run.error();
  if (said.as_json)
    std::cout << json::to_text(*run) << "\n";
  else
    std::cout << said.id << " " << state_of(*run) << "\n";
  return int{exit_ok};
}

result<int> follow(const runs_words& said, api_client& engine) {
  auto done = follow_run(engine, verb::get, run_path(said) + "/events");
  if (!done)
    return done.error();
  return print_result(*done, said.as_json, true);
}

/// Its progress and its result, as of `follow`.
result<int> rerun(const runs_words& said, api_client& engine) {
  auto done
    = follow_run(engine, verb::post, run_path(said) + "/rerun", nullptr);
  if (!done)
    return done.error();
  return print_result(*done, said.as_json, true);
}

// -- explain ------------------------------------------------------------------

void print_plan(const json::value& plan) {
  table where{{"BACKENDS", "REASON"}};
  const auto& reasons = plan.at("reasons").as_array();
  const auto& candidates = plan.at("candidates").as_array();
  for (std::size_t i = 0; i < std::max(reasons.size(), candidates.size()); ++i)
    where.add({i < candidates.size() ? std::string{candidates[i].as_string()}
                                     : std::string{},
               i < reasons.size() ? std::string{reasons[i].as_string()}
                                  : std::string{}});
  where.show();
  std::cout << "\nisolation " << cell(plan, "isolation") << ", network "
            << cell(plan, "network") << ", limits " << cell(plan, "limits")
            << "\n\n";
  table variables{{"VARIABLE", "FROM"}};
  for (const auto& v : plan.at("variables").as_array())
    variables.add({cell(v, "name"), cell(v, "origin")});
  variables.show();
}

result<int> explain(const runs_words& said, api_client& engine) {
  auto args = said_arguments(said.args);
  if (!args)
    return args.error();
  json::object body;
  body["tool_name"] = said.id;
  body["args"] = std::move(*args);
  if (!said.backend.empty())
    body["backend"] = said.backend;
  auto plan = engine.call(verb::post, "/v1/runs/explain", std::move(body));
  if (!plan)
    return plan.error();
  if (said.as_json)
    std::cout << json::to_text(*plan) << "\n";
  else
    print_plan(*plan);
  return int{exit_ok};
}

auto add_for_run(CLI::App* group, invocation& call, const char* name,
                 const char* help,
                 result<int> (*todo)(const runs_words&, api_client&)) {
  auto made = add_session_command(group, call, name, help, todo);
  made.first
    ->add_option("RUN", made.second->id, "Run id, from `troupe runs list`")
    ->required();
  return made;
}

} // namespace

void add_runs_command(CLI::App& app, invocation& call) {
  auto group
    = app.add_subcommand("runs", "List, follow, cancel and repeat runs");
  {
    auto [cmd, said] = add_session_command(group, call, "list",
                                           "List the newest runs", list_runs);
    cmd->add_option("-n,--count", said->count, "Number of runs (20)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  }
  add_for_run(group, call, "show", "Show a run; JSON unless on a terminal",
              show_run);
  {
    auto [cmd, said] = add_for_run(
      group, call, "logs", "Print what a run has printed so far", print_logs);
    cmd->add_flag("-f,--follow", said->follow,
                  "Go on printing until the run has ended");
  }
  add_for_run(group, call, "follow",
              "Print output as it is produced, then the result; exit code as "
              "`troupe run`",
              follow);
  add_for_run(group, call, "cancel", "Cancel a run", cancel_run);
  add_for_run(group, call, "rerun",
              "Run the same request again and follow it; a tool runs as it is "
              "now",
              rerun);
  auto [cmd, said] = add_session_command(
    group, call, "explain",
    "Explain where a tool would run and why, without running it", explain);
  cmd->add_option("TOOL", said->id, "Name or id")->required();
  cmd->add_option("--args", said->args, "A JSON object, @file, or -");
  cmd->add_option("--backend", said->backend, "Requested backend");
}

} // namespace troupe
