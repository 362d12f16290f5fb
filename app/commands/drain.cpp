#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

struct drain_words {
  int seconds = -1; // as the engine's own drain timeout
  bool as_json = false;
};

result<int> drain(const drain_words& said, api_client& engine) {
  engine.act_as_operator();
  json::object body;
  if (said.seconds >= 0)
    body["timeout_seconds"] = said.seconds;
  status_line progress;
  progress.show("waiting for runs in progress ...");
  auto done = engine.call(api_client::verb::post, "/v1/maintenance/drain",
                          std::move(body));
  progress.clear();
  if (!done)
    return done.error();
  const auto drained = cell(*done, "drained") == "true";
  if (said.as_json)
    std::cout << json::to_text(*done) << "\n";
  else
    std::cout << (drained ? "no run is" : cell(*done, "running") + " runs are")
              << " in progress; new ones are refused until the engine is "
                 "restarted\n";
  return drained ? int{exit_ok} : int{exit_timeout};
}

int drain_running_engine(const drain_words& said, const session_options& how) {
  auto engine = api_client::find(how);
  if (!engine)
    return print_api_error(engine.error());
  if (!*engine)
    return print_error("no engine is running here; name one with --server");
  auto done = drain(said, **engine);
  return done ? *done : print_api_error(done.error());
}

} // namespace

void add_drain_command(CLI::App& app, invocation& call) {
  auto said = std::make_shared<drain_words>();
  auto cmd = app.add_subcommand(
    "drain",
    "Refuse new runs and wait for those in progress; the engine keeps "
    "answering everything else");
  cmd
    ->add_option("--timeout", said->seconds,
                 "Seconds to wait (default: engine.drain-timeout)")
    ->check(CLI::Range(0, 86'400));
  cmd->add_flag("--json", said->as_json, "Print JSON");
  auto how = add_session_options(*cmd);
  cmd->footer(cmd->get_footer()
              + "\n\nExit code 124: runs were still in progress.");
  call.on(cmd, [said, how] { return drain_running_engine(*said, *how); });
}

} // namespace troupe
