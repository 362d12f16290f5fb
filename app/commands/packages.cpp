#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

struct packages_words {
  std::string fingerprint;
  std::vector<std::string> pip, npm;
  bool afresh = false;
  bool as_json = false;
};

constexpr auto place = "/v1/package-sets";

result<int> list_packages(const packages_words& said, api_client& engine) {
  return print_list(engine, place, said.as_json,
                    {{"FINGERPRINT", "fingerprint"},
                     {"STATE", "state"},
                     {"BYTES", "bytes"},
                     {"USED", "used_at"},
                     {"PACKAGES", "packages"}});
}

/// The installer's lines on a terminal; the environment in the end.
result<json::value> built(const packages_words& said, api_client& engine) {
  json::object body;
  body["pip_requirements"] = to_array(said.pip);
  body["npm_requirements"] = to_array(said.npm);
  body["rebuild"] = said.afresh;
  status_line progress;
  json::value last;
  auto hear = [&](json::object& line) -> result<void> {
    json::value event(std::move(line));
    if (cell(event, "type") == "end")
      last = std::move(event.get_object()["package_set"]);
    else
      progress.show(cell(event, "line"));
    return {};
  };
  auto heard = engine.follow(verb::post, place, std::move(body), hear);
  if (!heard)
    return heard.error();
  return last;
}

result<int> build_packages(const packages_words& said, api_client& engine) {
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

result<int> delete_packages(const packages_words& said, api_client& engine) {
  auto gone = engine.call(
    verb::delete_, place + ("/" + net::percent_encode(said.fingerprint)));
  if (!gone)
    return gone.error();
  return print_deleted(said.fingerprint, said.as_json);
}

} // namespace

void add_packages_command(CLI::App& app, invocation& call) {
  auto group
    = app.add_subcommand("packages", "Install packages before runs need them");
  add_session_command(group, call, "list", "List installed package sets",
                      list_packages);
  {
    auto [cmd, said] = add_session_command(
      group, call, "build",
      "Install packages, shared by all runs that require the same set",
      build_packages);
    cmd->add_option("--pip", said->pip, "Python package (repeatable)")
      ->allow_extra_args(false);
    cmd->add_option("--npm", said->npm, "Node package (repeatable)")
      ->allow_extra_args(false);
    cmd->add_flag("--rebuild", said->afresh, "Build again even if it exists");
  }
  auto [cmd, said] = add_session_command(
    group, call, "delete", "Delete a package set", delete_packages);
  cmd
    ->add_option("FINGERPRINT", said->fingerprint,
                 "Fingerprint, from `troupe packages list`")
    ->required();
}

} // namespace troupe
