#pragma once

#include "runtime/settings/load.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace troupe {

/// Where the help lists them.
inline constexpr auto settings_group = "Settings";

/// What the command line says about settings.
struct settings_options {
  settings_sources sources;

  /// Reads everything, or says why not on standard error.
  result<configuration> load();
};

/// Adds --config-file, short names for the settings one changes often, and
/// --group.key for every setting (these are not in the help: there are many).
std::shared_ptr<settings_options> add_settings_options(CLI::App& command);

} // namespace troupe
