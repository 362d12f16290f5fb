#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_session::verb;

struct packages_words {
  std::string fingerprint;
  std::vector<std::string> pip, npm;
  bool afresh = false;
  bool as_json = false;
};

constexpr auto place = "/v1/environments";

result<int> list_packages(const packages_words& said, api_session& engine) {
  return print_list(engine, place, said.as_json,
                    {{"FINGERPRINT", "fingerprint"},
                     {"STATE", "state"},
                     {"BYTES", "bytes"},
                     {"USED", "used_at"},
                     {"PACKAGES", "packages"}});
}

/// The installer's lines on a terminal; the environment in the end.
result<json::value> built(const packages_words& said, api_session& engine) {
  json::object body;
  body["pip_requirements"] = to_array(said.pip);
  body["npm_requirements"] = to_array(said.npm);
  body["rebuild"] = said.afresh;
  status_line progress;
  json::value last;
  auto hear = [&](json::object& line) -> result<void> {
    json::value event(std::move(line));
    if (cell(event, "type") == "end")
      last = std::move(event.get_object()["environment"]);
    else
      progress.show(cell(event, "line"));
    return {};
  };
  auto heard = engine.follow(verb::post, place, std::move(body), hear);
  if (!heard)
    return heard.error();
  return last;
}

result<int> build_packages(const packages_words& said, api_session& engine) {
  auto done = built(said, engine);
  if (!done)
    return done.error();
  auto ready = cell(*done, "state") == "ready";
  if (said.as_json)
    std::cout << json::to_text(*done) << "\n";
  else if (ready)
    std::cout << cell(*done, "fingerprint") << "\n";
  else
    std::cerr << "troupe: "
              << read_error(done->at("error").as_object(), ec::internal).text
              << "\n";
  return ready ? int{exit_ok} : int{exit_tool_failed};
}

result<int> delete_packages(const packages_words& said, api_session& engine) {
  auto gone = engine.call(
    verb::delete_, place + ("/" + net::percent_encode(said.fingerprint)));
  if (!gone)
    return gone.error();
  return print_deleted(said.fingerprint, said.as_json);
}

} // namespace

void add_packages_command(CLI::App& app, invocation& call) {
  auto group
    = app.add_subcommand("packages", "Install what tools need ahead of runs");
  add_session_command(group, call, "list", "What is installed", list_packages);
  {
    auto [cmd, said] = add_session_command(
      group, call, "build",
      "Install packages, once for all runs that ask for the same",
      build_packages);
    cmd->add_option("--pip", said->pip, "A Python package (repeatable)")
      ->allow_extra_args(false);
    cmd->add_option("--npm", said->npm, "A Node package (repeatable)")
      ->allow_extra_args(false);
    cmd->add_flag("--rebuild", said->afresh, "Even where they are there");
  }
  auto [cmd, said] = add_session_command(
    group, call, "delete", "Delete what is installed", delete_packages);
  cmd
    ->add_option("FINGERPRINT", said->fingerprint,
                 "As `troupe packages list` shows it")
    ->required();
}

} // namespace troupe
