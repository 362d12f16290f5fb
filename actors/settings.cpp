#include "actors/settings.hpp"

#include "runtime/settings/ini_lines.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/config_value.hpp>
#include <caf/pec.hpp>
#include <caf/settings.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace troupe {

namespace {

using kind = file_entry::kind;

// A config.ini with every setting has 20 KiB.
constexpr std::size_t largest_file = 1u << 20;

/// CAF knows neither carriage returns nor a byte order mark.
void make_plain(std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);
  std::erase(text, '\r');
}

/// Turns CAF's value into one of ours. The spelling of the file is kept for
/// numbers and durations, since CAF's own may have wrapped around.
struct entry_of {
  file_entry& entry;
  const std::string& raw;

  void keep(kind type, std::string text) const {
    entry.type = type;
    entry.text = std::move(text);
  }
  void operator()(bool x) const { keep(kind::flag, x ? "true" : "false"); }
  void operator()(std::int64_t x) const {
    keep(kind::integer, raw.empty() ? std::to_string(x) : raw);
  }
  void operator()(double x) const {
    keep(kind::number, raw.empty() ? std::to_string(x) : raw);
  }
  void operator()(caf::atom_value x) const { keep(kind::text, to_string(x)); }
  void operator()(caf::timespan x) const {
    keep(kind::duration,
         raw.empty() ? std::to_string(x.count() / 1'000'000) + "ms" : raw);
  }
  void operator()(const caf::uri& x) const { keep(kind::other, to_string(x)); }
  void operator()(const std::string& x) const { keep(kind::text, x); }
  void operator()(const caf::config_value::list& xs) const {
    keep(kind::list, raw);
    for (auto& x : xs) {
      auto text = caf::get_if<std::string>(&x);
      if (!text) {
        entry.type = kind::other;
        return;
      }
      entry.items.push_back(*text);
    }
  }
  void operator()(const caf::config_value::dictionary&) const {
    keep(kind::other, "{...}");
  }
};

class lines_of {
public:
  explicit lines_of(std::string_view text) : lines_{scan_ini(text)} {}

  const ini_line* find(std::string_view group, std::string_view name) const {
    for (auto& line : lines_)
      if (line.group == group && line.name == name)
        return &line;
    return nullptr;
  }

  /// CAF drops such a key at the end of a file without a word.
  void refuse_incomplete(std::string_view file, settings_layers& layers) const {
    for (auto& line : lines_)
      if (!line.complete)
        layers.complain(std::string{file} + ":" + std::to_string(line.line),
                        line.group + "." + line.name + " has no complete value",
                        "close its bracket, or take the line away");
  }

  /// CAF lets the last one win without a word, a whole group included.
  void refuse_doubles(std::string_view file, settings_layers& layers) const {
    std::map<std::string, std::size_t> seen;
    for (auto& line : lines_) {
      auto what = line.name.empty() ? "[" + line.group + "]"
                                    : line.group + "." + line.name;
      auto [first, fresh] = seen.emplace(what, line.line);
      if (!fresh)
        layers.complain(std::string{file} + ":" + std::to_string(line.line),
                        what + " stands in line "
                          + std::to_string(first->second) + " already",
                        "keep one of them");
    }
  }

private:
  std::vector<ini_line> lines_;
};

caf::pec parse_code(std::string_view text) {
  std::istringstream in{std::string{text}};
  auto parsed = caf::actor_system_config::parse_config(in);
  return parsed ? caf::pec::success
                : static_cast<caf::pec>(parsed.error().code());
}

/// CAF tells what is wrong but not where. Its parser goes from left to right:
/// once some lines are broken, so are they with more lines behind them.
std::size_t broken_line(std::string_view text) {
  std::vector<std::size_t> ends; // one past each line
  for (std::size_t at = 0; at < text.size(); at = ends.back()) {
    auto newline = text.find('\n', at);
    ends.push_back(newline == text.npos ? text.size() : newline + 1);
  }
  auto whole = [&](std::size_t end) {
    auto code = parse_code(text.substr(0, end));
    return code == caf::pec::success || code == caf::pec::unexpected_eof;
  };
  auto first = std::partition_point(ends.begin(), ends.end(), whole);
  return static_cast<std::size_t>(first - ends.begin()) + 1;
}

void complain_about_syntax(std::string_view name, std::string_view text,
                           caf::pec why, settings_layers& layers) {
  std::size_t line = 1;
  std::string hint = "texts stand in double quotes, comments begin with ;";
  if (why == caf::pec::unexpected_eof) {
    if (auto lines = scan_ini(text); !lines.empty())
      line = lines.back().line;
    hint = "a quote, a bracket or a value is missing";
  } else {
    line = broken_line(text);
  }
  auto reason = to_string(why);
  std::replace(reason.begin(), reason.end(), '_', ' ');
  layers.complain(std::string{name} + ":" + std::to_string(line), reason, hint);
}

file_entry entry_from(const std::string& group, const std::string& name,
                      const caf::config_value& value, const lines_of& lines) {
  static const std::string nowhere;
  file_entry entry;
  entry.group = group;
  entry.name = name;
  auto line = lines.find(group, name);
  entry.line = line ? line->line : 0;
  caf::visit(entry_of{entry, line ? line->raw : nowhere}, value);
  return entry;
}

} // namespace

void read_config(std::string_view name, source_file file,
                 settings_layers& layers) {
  auto& text = file.text;
  make_plain(text);
  std::istringstream in{text};
  auto parsed = caf::actor_system_config::parse_config(in);
  lines_of lines{text};
  std::vector<file_entry> entries;
  if (!parsed) {
    layers.file(std::string{name}, {}, file.open_to_all);
    auto code = static_cast<caf::pec>(parsed.error().code());
    complain_about_syntax(name, text, code, layers);
    wipe(text.data(), text.size());
    return;
  }
  for (auto& [group, value] : *parsed) {
    if (auto keys = caf::get_if<caf::config_value::dictionary>(&value))
      for (auto& [key, inner] : *keys)
        entries.push_back(entry_from(group, key, inner, lines));
    else // a key before the first [group]
      entries.push_back(entry_from("global", group, value, lines));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](auto& a, auto& b) { return a.line < b.line; });
  layers.file(std::string{name}, entries, file.open_to_all);
  lines.refuse_incomplete(name, layers);
  lines.refuse_doubles(name, layers);
  for (auto& entry : entries)
    wipe(entry.text.data(), entry.text.size());
  wipe(text.data(), text.size());
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
  return std::move(layers).finish();
}

} // namespace troupe
