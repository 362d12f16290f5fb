#include "runtime/settings/load.hpp"

#include "runtime/settings/ini_parser.hpp"

#include <map>

namespace troupe {

namespace {

// A config.ini with every setting has 20 KiB.
constexpr std::size_t largest_file = 1u << 20;

/// What stands twice is a mistake: one of the two is not in force.
void refuse_doubles(const std::vector<file_entry>& entries,
                    const std::string& file, settings_layers& layers) {
  std::map<std::string, std::size_t> seen;
  for (const auto& entry : entries) {
    const auto what = entry.name.empty() ? "[" + entry.group + "]"
                                         : entry.group + "." + entry.name;
    const auto [first, fresh] = seen.emplace(what, entry.line);
    if (!fresh)
      layers.complain(file + ":" + std::to_string(entry.line),
                      what + " is already set in line "
                        + std::to_string(first->second) + " already",
                      "keep one of them");
  }
}

void wipe_text(std::string& text) {
  wipe(text.data(), text.size());
}

} // namespace

void read_config(std::string_view name, source_file file,
                 settings_layers& layers) {
  const std::string place{name};
  std::string_view text{file.text};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  auto parsed = parse_ini(text);
  for (auto& [line, reason, hint] : parsed.problems)
    layers.complain(place + ":" + std::to_string(line), std::move(reason),
                    std::move(hint));
  refuse_doubles(parsed.entries, place, layers);
  layers.file(place, parsed.entries, file.open_to_all);
  for (auto& entry : parsed.entries) {
    wipe_text(entry.text);
    for (auto& item : entry.items)
      wipe_text(item);
  }
  wipe_text(file.text);
}

result<configuration> load_settings(const settings_sources& from) {
  settings_layers layers;
  auto candidates = from.file.empty() ? from.standard_files
                                      : std::vector<std::string>{from.file};
  for (auto& path : candidates) {
    auto file = read_source(path, largest_file);
    if (file) {
      read_config(path, std::move(*file), layers);
      break;
    }
    // One that is there and says something we cannot read is no absent one.
    if (!from.file.empty() || file.error().code != ec::not_found)
      return file.error();
  }
  layers.environment(from.variables);
  for (auto& [setting, text, name] : from.flags)
    layers.flag(setting, text, name);
  for (auto& [setting, text] : from.program)
    layers.program(setting, text);
  return std::move(layers).finish();
}

} // namespace troupe
