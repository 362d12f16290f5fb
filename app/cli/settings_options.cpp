#include "app/cli/settings_options.hpp"

namespace troupe {

namespace {

void add_setting(CLI::App& command, settings_options& into, std::string names,
                 std::string path, std::string help, std::string group) {
  // The name as the user wrote it, for complaints and for origins.
  auto shown = names;
  command
    .add_option_function<std::string>(
      std::move(names),
      [&into, path, shown](const std::string& text) {
        into.sources.flags.push_back({path, text, shown});
      },
      std::move(help))
    ->group(std::move(group));
}

} // namespace

result<configuration> settings_options::load() {
  sources.variables = own_environment();
  if (sources.file.empty())
    if (auto named = sources.variables.find("TROUPE_CONFIG_FILE");
        named != sources.variables.end())
      sources.file = named->second;
  return load_settings(sources);
}

std::shared_ptr<settings_options> add_settings_options(CLI::App& command) {
  auto options = std::make_shared<settings_options>();
  command
    .add_option("--config-file", options->sources.file,
                "Config file (default: TROUPE_CONFIG_FILE, ./config.ini, "
                "/etc/troupe/config.ini)")
    ->group(settings_group);
  add_setting(command, *options, "--listen", "http.listen",
              "Address to listen on, host:port", settings_group);
  add_setting(command, *options, "--data-dir", "engine.data-dir",
              "Directory for all persistent data", settings_group);
  add_setting(command, *options, "--log-level", "log.level",
              "debug, info, warning, error or off", settings_group);
  for (auto& key : setting_keys())
    add_setting(command, *options, "--" + key.path(), key.path(),
                std::string{key.help}, "");
  return options;
}

} // namespace troupe
