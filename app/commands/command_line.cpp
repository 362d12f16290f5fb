#include "app/cli/command_line.hpp"

#include "app/cli/commands.hpp"
#include "app/cli/examples.hpp"
#include "app/cli/global_options.hpp"
#include "app/cli/help_format.hpp"
#include "runtime/json/reader.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>

namespace troupe {

namespace {

constexpr auto description = "Execution engine for the tools of AI agents: "
                             "isolated runs, typed results.";

/// The innermost command that was named: its words are the ones to suggest.
const CLI::App* innermost(const CLI::App* app) {
  for (auto inner = app; inner;) {
    app = inner;
    auto named = app->get_subcommands();
    inner = named.empty() ? nullptr : named.front();
  }
  return app;
}

std::string full_name(const CLI::App* app) {
  auto name = app->get_name();
  for (auto up = app->get_parent(); up; up = up->get_parent())
    name = up->get_name() + " " + name;
  return name;
}

std::string nearest(std::string_view word,
                    const std::vector<std::string>& known) {
  std::vector<std::string_view> views{known.begin(), known.end()};
  return json::nearest(word.substr(0, 64), views);
}

std::vector<std::string> command_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (auto sub : app->get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty())
      names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (auto option : app->get_options())
    for (auto& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

int refuse_word(const CLI::App* at, std::string word) {
  word = word.substr(0, word.find('='));
  auto is_option = word.starts_with('-');
  auto near = nearest(word, is_option ? option_names(at) : command_names(at));
  auto text = std::string{is_option ? "unknown option '" : "unknown command '"}
    + word + "'";
  std::error_code ignored;
  if (!at->get_parent() && std::filesystem::is_regular_file(word, ignored))
    return print_error(text + "; did you mean `troupe run " + word + "`?");
  if (!is_option && command_names(at).empty())
    text = "unexpected argument '" + word + "'";
  text += near.empty() ? "." : "; did you mean '" + near + "'?";
  return print_error(text + " See " + full_name(at) + " --help.");
}

int refuse(const CLI::App& app, const CLI::ParseError& why) {
  auto at = innermost(&app);
  if (auto extra = app.remaining(true); !extra.empty()) {
    if (extra.front() == "--" && extra.size() > 1)
      return print_error("unexpected argument '" + extra[1]
                         + "': no options are allowed after --. See "
                         + full_name(at) + " --help.");
    return refuse_word(at, extra.front());
  }
  std::string reason = why.what();
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == '.'))
    reason.pop_back();
  return print_error(reason + ". See " + full_name(at) + " --help.");
}

int run(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view{argv[1]} == "__complete")
    return print_completions({argv + 2, argv + argc});
  if (argc > 1 && std::string_view{argv[1]} == "help") // its words are commands
    return explain_command({argv + 2, argv + argc});
  CLI::App app{description, "troupe"};
  invocation call;
  build_command_line(app, call);
  try {
    auto words = options_behind_command(app,
                                        {argv + std::min(argc, 1), //
                                         argv + argc});
    std::ranges::reverse(words); // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::Success& wanted) { // --help, --version
    return app.exit(wanted, std::cout, std::cerr);
  } catch (const CLI::ParseError& why) {
    return refuse(app, why);
  }
  if (call.chosen())
    return call.chosen()();
  std::cerr << app.help();
  return exit_usage;
}

} // namespace

void build_command_line(CLI::App& app, invocation& call) {
  app.formatter(std::make_shared<help_format>());
  app.set_version_flag("--version", "troupe " TROUPE_VERSION,
                       "Print the version");
  add_commands(app, call);
  // Last: a new command would inherit it.
  app.footer("\nExamples:\n" + std::string{first_examples}
             + "\nExit codes: " + exit_codes_help);
}

int run_command_line(int argc, const char* const* argv) {
  // Written to a pipe that nobody reads: an error to handle, not a death.
  std::signal(SIGPIPE, SIG_IGN);
  // A parent may have ignored it, which would take our children's exit codes.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    auto code = run(argc, argv);
    std::cout.flush();
    return code;
  } catch (const std::exception& e) {
    return print_error(e.what(), exit_ours);
  }
}

} // namespace troupe
