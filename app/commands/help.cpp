#include "app/cli/commands.hpp"
#include "app/cli/engine_locator.hpp"
#include "app/cli/help_format.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

namespace troupe {

namespace {

using command_list = std::vector<const CLI::App*>;

/// What most commands take, explained in this one place.
int explain_shared_options() {
  CLI::App app{"To find an engine, and for its settings: options that most "
               "commands have. They may stand before the command, too.",
               "troupe COMMAND"};
  app.formatter(std::make_shared<help_format>());
  app.set_help_flag();
  const auto kept = add_session_options(app);
  app.footer("\nEvery setting can be passed as --group.key=value; see `troupe "
             "config keys`.");
  std::cout << app.help();
  return exit_ok;
}

} // namespace

/// The words that lead to a command, as if they had been typed with --help. A
/// word that leads nowhere is typed without: whoever parses it suggests others.
int explain_command(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"options"})
    return explain_shared_options();
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  std::vector<const char*> argv{"troupe"};
  const CLI::App* at = &app;
  for (const auto& word : words) {
    command_list all
      = at->get_subcommands([](const CLI::App*) { return true; });
    if (all.empty())
      break; // arguments of the command need no explanation
    argv.push_back(word.c_str());
    auto found = std::ranges::find_if(
      all, [&](const CLI::App* one) { return one->check_name(word); });
    if (found == all.end())
      return run_command_line(static_cast<int>(argv.size()), argv.data());
    at = *found;
  }
  argv.push_back("--help");
  return run_command_line(static_cast<int>(argv.size()), argv.data());
}

/// For the help, the manual and the completions: the words themselves are
/// taken before anything is parsed.
void add_help_command(CLI::App& app, invocation& call) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto cmd = app.add_subcommand("help", "Show the help of a command");
  cmd->add_option("COMMAND", *words,
                  "The command, such as `tool put`; or `options`");
  call.on(cmd, [words] { return explain_command(*words); });
}

} // namespace troupe
