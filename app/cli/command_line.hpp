#pragma once

#include "app/cli/run_command_line.hpp"
#include "app/daemon/exit_code.hpp"
#include "runtime/base/error.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace troupe {

/// What the command line asks for. A command file registers itself:
///
///   void add_version_command(CLI::App& app, invocation& call) {
///     auto json = std::make_shared<bool>(false);
///     auto* cmd = app.add_subcommand("version", "Print the version");
///     cmd->add_flag("--json", *json, "Print JSON");
///     call.on(cmd, [json] { return print_version(*json); });
///   }
class invocation {
public:
  /// `run` is called after everything was parsed; it returns an exit code.
  void on(CLI::App* command, std::function<int()> run) {
    command->callback([this, run = std::move(run)] { chosen_ = run; });
  }
  const std::function<int()>& chosen() const { return chosen_; }

private:
  std::function<int()> chosen_;
};

/// The whole tree of commands, for parsing and for completion.
void build_command_line(CLI::App& app, invocation& call);

/// `troupe: reason` on standard error; returns `code`.
int print_error(std::string_view reason, int code = exit_usage);
/// The same, with the code that the error asks for.
int print_error(const error& why);

} // namespace troupe
