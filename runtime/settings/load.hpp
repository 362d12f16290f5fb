#pragma once

#include "runtime/base/error.hpp"
#include "runtime/settings/layers.hpp"
#include "runtime/settings/source_file.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Where settings come from.
struct settings_sources {
  std::string file; // must exist; "": `standard_files`, if there
  std::vector<std::string> standard_files
    = {"config.ini", "/etc/troupe/config.ini"};
  process_environment variables;
  /// What stands on the command line: the path of the setting, the text, and
  /// the flag as the user wrote it.
  struct flag {
    std::string path;
    std::string text;
    std::string name;
  };
  std::vector<flag> flags;
  /// What a program says that has the engine inside, by the path of the
  /// setting. Before all others.
  std::map<std::string, std::string> program;
};

/// Reads, checks and explains all settings, or refuses with every complaint at
/// once: file, line, key, what was expected and the nearest known name.
result<configuration> load_settings(const settings_sources& from);

/// The values of a config.ini. `name` is for the complaints. Complaints about
/// syntax and about keys that stand twice go to `layers`, and so do the values.
void read_config(std::string_view name, source_file file,
                 settings_layers& layers);

} // namespace troupe
