#include "app/cli/commands.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

namespace {

// Each asks the binary itself, so that a completion is never out of date.
constexpr auto bash_script = R"(_troupe() {
  local IFS=$'\n'
  COMPREPLY=($(troupe __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _troupe troupe
)";

constexpr auto zsh_script = R"(#compdef troupe
_troupe() {
  local -a found
  found=("${(@f)$(troupe __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( ${#found[1]} )); then compadd -- $found; else _files; fi
}
compdef _troupe troupe
)";

constexpr auto fish_script = R"(function __troupe_complete
  set -l words (commandline -opc) (commandline -ct)
  troupe __complete $words[2..-1] 2>/dev/null
end
complete -c troupe -a '(__troupe_complete)'
)";

int print_script(const std::string& shell) {
  std::cout << (shell == "bash"    ? bash_script
                  : shell == "zsh" ? zsh_script
                                   : fish_script);
  return exit_ok;
}

/// The command called `name`, or `app` itself when that word is an argument.
const CLI::App* inner_command(const CLI::App* app, const std::string& name) {
  auto found = app->get_subcommands(
    [&](const CLI::App* sub) { return sub->check_name(name); });
  return found.empty() ? app : found.front();
}

} // namespace

int print_completions(const std::vector<std::string>& words) {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  const CLI::App* at = &app;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (!words[i].starts_with('-'))
      at = inner_command(at, words[i]);
  auto begun = words.empty() ? std::string{} : words.back();
  for (auto sub : at->get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty() && sub->get_name().starts_with(begun))
      std::cout << sub->get_name() << "\n";
  if (!begun.starts_with('-'))
    return exit_ok;
  for (auto option : at->get_options())
    for (auto& name : option->get_lnames())
      if (("--" + name).starts_with(begun))
        std::cout << "--" << name << "\n";
  return exit_ok;
}

void add_completion_command(CLI::App& app, invocation& call) {
  auto shell = std::make_shared<std::string>();
  auto cmd
    = app.add_subcommand("completion", "Print a shell completion script");
  cmd->add_option("shell", *shell, "bash, zsh or fish")
    ->required()
    ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  call.on(cmd, [shell] { return print_script(*shell); });
}

} // namespace troupe
