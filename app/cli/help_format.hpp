#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace troupe {

/// Help as one wants to read it: values by a word of their own (FILE, N,
/// SCOPE), examples, and what many commands share in one line, since `troupe
/// help options` explains it.
class help_format final : public CLI::Formatter {
public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// FILE, N, SCOPE: what an option takes; "" for a flag.
std::string value_word(const CLI::Option& option);

/// Whether many commands have it: how to find an engine, and settings.
bool is_shared(const CLI::Option& option);

/// "tool put": as it is typed behind the program's name.
std::string command_path(const CLI::App& command);

} // namespace troupe
