// Settings from the variables of a process.
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/size_units.hpp"
#include "runtime/settings/layers.hpp"
#include "runtime/settings/source_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace troupe {

namespace {

constexpr std::size_t largest_secret_file = 64u << 10;

constexpr std::string_view own_prefix = "TROUPE_";

/// Ours, but no settings: what the command line reads, and what a run finds
/// that starts us.
constexpr std::string_view no_settings[] = {
  "TROUPE_CONFIG_FILE", "TROUPE_SERVER",  "TROUPE_API_KEY", "TROUPE_AGENT_ID",
  "TROUPE_PROJECT_ID",  "TROUPE_TOOL_ID", "TROUPE_RUN_ID"};

/// Names that a Letta server reads and that have no counterpart here.
struct unsupported_variable {
  std::string_view name;
  std::string_view why;
};
constexpr std::string_view no_search = "no search tools";
constexpr std::string_view no_mcp = "no MCP client";
constexpr std::string_view no_agents = "no agents and no users";
constexpr unsupported_variable foreign[] = {
  {"TAVILY_API_KEY", no_search},      {"EXA_API_KEY", no_search},
  {"LETTA_EMBED_TOOLS", no_search},   {"MCP_CONNECT_TO_SERVER_TIMEOUT", no_mcp},
  {"MCP_LIST_TOOLS_TIMEOUT", no_mcp}, {"MCP_EXECUTE_TOOL_TIMEOUT", no_mcp},
  {"MCP_READ_FROM_CONFIG", no_mcp},   {"MCP_DISABLE_STDIO", no_mcp},
  {"LETTA_ENVIRONMENT", no_agents},   {"LETTA_NO_DEFAULT_ACTOR", no_agents},
  {"LETTA_DEBUG", "use log.level"},   {"LETTA_CONFIG_PATH", "use config.ini"},
};

std::string upper(std::string_view text) {
  std::string out{text};
  for (auto& c : out)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// Letta matches its names without regard to case. The exact name comes first.
const std::string* find_alias(const process_environment& variables,
                              std::string_view name) {
  if (auto exact = variables.find(name); exact != variables.end())
    return &exact->second;
  for (auto& [other, value] : variables)
    if (other.size() == name.size() && upper(other) == name)
      return &value;
  return nullptr;
}

/// storage.master-key has a setting for its file already.
bool may_be_in_file(const setting_key& key) {
  return key.is_secret()
    && !find_setting(key.group, std::string{key.name} + "-file");
}

std::string adapted(const setting_alias& alias, std::string_view said) {
  std::string text{trim(said)};
  auto is_bare
    = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
  if (alias.seconds && is_bare)
    text += "s";
  while (!alias.suffix.empty() && text.ends_with('/'))
    text.pop_back();
  return text + std::string{alias.suffix};
}

bool is_about_settings(std::string_view name) {
  if (name.starts_with(own_prefix))
    return true;
  const auto loud = upper(name);
  if (std::ranges::find(foreign, loud, &unsupported_variable::name)
      != std::end(foreign))
    return true;
  return std::ranges::any_of(setting_keys(), [&](const setting_key& key) {
    return std::ranges::find(key.aliases, loud, &setting_alias::name)
      != key.aliases.end();
  });
}

/// Our own names that mean something.
std::vector<std::string> known_variables() {
  std::vector<std::string> known{std::begin(no_settings),
                                 std::end(no_settings)};
  for (auto& key : setting_keys()) {
    known.push_back(key.variable());
    if (may_be_in_file(key))
      known.push_back(key.variable() + "_FILE");
    for (auto& alias : key.aliases)
      if (alias.name.starts_with(own_prefix))
        known.emplace_back(alias.name);
  }
  return known;
}

} // namespace

process_environment own_environment() {
  process_environment all;
  for (auto at = environ; at && *at; ++at) {
    std::string_view entry{*at};
    const auto equals = entry.find('=');
    if (equals != entry.npos && is_about_settings(entry.substr(0, equals)))
      all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

bool came_from_alias(const configuration& c, const setting_key& key) {
  const auto origin = c.origin_of(key);
  return origin.kind == origin_kind::environment
    && !origin.where.starts_with(key.variable());
}

void settings_layers::environment(const process_environment& variables) {
  for (auto& key : setting_keys())
    from_environment(key, variables);
  warn_of_unknown(variables);
}

void settings_layers::warn_of_unknown(const process_environment& variables) {
  const auto known = known_variables();
  const std::vector<std::string_view> names{known.begin(), known.end()};
  // TROUPE_HTTP_LISTN would be a silent default otherwise.
  for (auto& [name, value] : variables) {
    if (!name.starts_with(own_prefix)
        || std::ranges::find(known, name) != known.end())
      continue;
    const auto near = json::nearest(name, names);
    done_.warnings.push_back(
      name + " is not the name of a setting"
      + (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  for (auto& [name, why] : foreign)
    if (auto value = find_alias(variables, name); value && !value->empty())
      done_.warnings.push_back(std::string{name}
                               + " has no effect: " + std::string{why});
}

void settings_layers::from_environment(const setting_key& key,
                                       const process_environment& variables) {
  auto name = key.variable();
  if (auto own = variables.find(name);
      own != variables.end() && !own->second.empty()) {
    store(key, own->second, {origin_kind::environment, name});
    return;
  }
  if (auto file = variables.find(name + "_FILE");
      may_be_in_file(key) && file != variables.end() && !file->second.empty()) {
    from_secret_file(key, file->first, file->second);
    return;
  }
  for (auto& alias : key.aliases)
    if (auto text = find_alias(variables, alias.name); text && !text->empty()) {
      store(key, adapted(alias, *text),
            {origin_kind::environment, std::string{alias.name}});
      return;
    }
}

void settings_layers::from_secret_file(const setting_key& key,
                                       const std::string& variable,
                                       const std::string& path) {
  auto file = read_source(path, largest_secret_file);
  if (!file || file->text.empty()) {
    complain(variable, path + " cannot be read or is empty",
             "it should contain the value of " + key.path());
    return;
  }
  if (file->open_to_all)
    done_.warnings.push_back("all users of this machine can read " + path
                             + ", which contains " + key.path()
                             + "; run: chmod 600 " + path);
  store(key, file->text, {origin_kind::environment, variable});
  wipe(file->text.data(), file->text.size());
}

} // namespace troupe
