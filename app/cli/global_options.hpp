#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace troupe {

/// The words of a command line with every option that stands before the whole
/// command is named moved behind it: `troupe --server URL runs list` means
/// `troupe runs list --server=URL`. What no command beneath knows stays where
/// it is, to be refused there. `words` begin behind the program's name.
std::vector<std::string> options_behind_command(const CLI::App& app,
                                                std::vector<std::string> words);

} // namespace troupe
