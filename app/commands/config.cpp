#include "app/cli/commands.hpp"
#include "app/cli/settings_check.hpp"
#include "app/cli/settings_options.hpp"
#include "runtime/settings/render.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <string_view>

namespace troupe {

namespace {

struct show_options {
  bool origin = false;
  bool as_json = false;
  std::string group;
};

int show(settings_options& from, const show_options& how) {
  auto loaded = from.load();
  if (!loaded)
    return print_error(loaded.error());
  if (how.as_json)
    std::cout << json::to_text(values_json(*loaded)) << "\n";
  else
    std::cout << render_values(*loaded, how.origin);
  return exit_ok;
}

int list_keys(const show_options& how) {
  auto groups = setting_groups();
  auto known = how.group.empty()
    || std::any_of(groups.begin(), groups.end(),
                   [&](auto& g) { return g.name == how.group; });
  if (!known)
    return print_error("no group '" + how.group
                       + "'; run `troupe config keys` for a list");
  if (how.as_json)
    std::cout << json::to_text(keys_json(how.group)) << "\n";
  else
    std::cout << render_keys(how.group);
  return exit_ok;
}

/// Those that somebody wrote: a value that follows from another's is not one.
std::size_t written_settings(const configuration& loaded) {
  std::set<std::string_view> places;
  for (const auto& [path, origin] : loaded.origins)
    places.insert(origin.where);
  return places.size();
}

} // namespace

int check_settings(settings_options& from, bool as_json) {
  auto loaded = from.load();
  if (!loaded && as_json)
    std::cout << json::to_text(
      json::object{{"ok", false}, {"error", loaded.error().text}})
              << "\n";
  if (!loaded)
    return print_error(loaded.error());
  for (auto& warning : loaded->warnings)
    std::cerr << "troupe: warning: " << warning << "\n";
  const auto settings = written_settings(*loaded);
  if (as_json)
    std::cout << json::to_text(json::object{
      {"ok", true},
      {"file", loaded->file},
      {"settings", settings},
      {"warnings",
       json::array(loaded->warnings.begin(), loaded->warnings.end())}})
              << "\n";
  else
    std::cout << (loaded->file.empty() ? "the configuration" : loaded->file)
              << " is valid (" << settings
              << (settings == 1 ? " setting" : " settings") << ")\n";
  return exit_ok;
}

void add_config_command(CLI::App& app, invocation& call) {
  auto how = std::make_shared<show_options>();
  auto config
    = app.add_subcommand("config", "Show, check and explain settings");

  auto shown = config->add_subcommand(
    "show", "Print the effective settings; secrets are masked");
  shown->add_flag("--origin", how->origin, "Show where each value comes from");
  shown->add_flag("--json", how->as_json, "Print JSON, with origins");
  auto show_from = add_settings_options(*shown);
  call.on(shown, [how, show_from] { return show(*show_from, *how); });

  auto checked = config->add_subcommand(
    "check", "Check all settings without starting anything");
  checked->add_flag("--json", how->as_json, "Print JSON");
  auto check_from = add_settings_options(*checked);
  call.on(checked, [how, check_from] {
    return check_settings(*check_from, how->as_json);
  });

  auto keys = config->add_subcommand("keys", "Explain all settings");
  keys->add_option("group", how->group, "Only this group");
  keys->add_flag("--json", how->as_json, "Print JSON");
  call.on(keys, [how] { return list_keys(*how); });

  auto ini = config->add_subcommand(
    "template", "Print a config.ini with all settings commented out");
  call.on(ini, [] {
    std::cout << render_ini();
    return int{exit_ok};
  });
}

} // namespace troupe
