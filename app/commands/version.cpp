#include "app/cli/commands.hpp"
#include "app/daemon/build_commit.hpp"
#include "runtime/json/json.hpp"

#include <boost/version.hpp>

#include <iostream>
#include <memory>

namespace troupe {

namespace {

int print_version(bool as_json) {
  if (!as_json) {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return exit_ok;
  }
  json::object o;
  o["version"] = TROUPE_VERSION;
  o["commit"] = build_commit();
  o["compiler"] = __VERSION__;
  o["boost"] = BOOST_LIB_VERSION;
  std::cout << json::to_text(o) << "\n";
  return exit_ok;
}

} // namespace

void add_version_command(CLI::App& app, invocation& call) {
  auto as_json = std::make_shared<bool>(false);
  auto cmd = app.add_subcommand("version", "Print the version");
  cmd->add_flag("--json", *as_json, "Print JSON");
  call.on(cmd, [as_json] { return print_version(*as_json); });
}

} // namespace troupe
