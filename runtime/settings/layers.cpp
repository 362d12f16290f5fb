#include "runtime/settings/layers.hpp"

#include "runtime/settings/form.hpp"
#include "runtime/settings/value.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>

namespace troupe {

namespace {

using kind = file_entry::kind;

constexpr std::size_t largest_secret_file = 64u << 10;

/// Which spellings of the file a setting takes. Strict on purpose: CAF would
/// keep the default for a value of another type without a word.
bool fits(kind type, std::string_view text, const setting_slot& slot) {
  if (std::holds_alternative<bool*>(slot))
    return type == kind::flag;
  if (std::holds_alternative<std::uint32_t*>(slot))
    return type == kind::integer;
  if (std::holds_alternative<std::uint64_t*>(slot))
    return type == kind::integer || type == kind::text;
  if (std::holds_alternative<double*>(slot))
    return type == kind::integer || type == kind::number;
  if (std::holds_alternative<std::chrono::milliseconds*>(slot))
    return type == kind::duration || type == kind::text
      || (type == kind::integer && text == "0");
  if (std::holds_alternative<std::vector<std::string>*>(slot))
    return type == kind::list;
  return type == kind::text;
}

std::string_view to_text(kind type) {
  switch (type) {
  case kind::flag:
    return "true or false";
  case kind::integer:
    return "a whole number";
  case kind::number:
    return "a number";
  case kind::duration:
    return "a duration";
  case kind::text:
    return "a text";
  case kind::list:
    return "a list";
  case kind::other:
    break;
  }
  return "something else";
}

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

std::string adapted(const setting_alias& alias, std::string text) {
  auto is_bare
    = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
  if (alias.seconds && is_bare)
    text += "s";
  while (!alias.suffix.empty() && text.ends_with('/'))
    text.pop_back();
  return text + std::string{alias.suffix};
}

std::string shown(const setting_key& key, std::string_view text) {
  if (key.is_secret())
    return key.path();
  constexpr std::size_t most = 80;
  std::string value;
  for (char c : text.substr(0, most))
    value += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return key.path() + " = " + value + (text.size() > most ? "..." : "");
}

} // namespace

process_environment own_environment() {
  process_environment all;
  for (auto at = environ; at && *at; ++at) {
    std::string_view entry{*at};
    if (auto equals = entry.find('='); equals != entry.npos)
      all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

setting_origin configuration::origin_of(const setting_key& key) const {
  auto found = origins.find(key.path());
  return found == origins.end() ? setting_origin{} : found->second;
}

void settings_layers::complain(std::string where, std::string reason,
                               std::string hint) {
  complaints_.push_back({std::move(where), std::move(reason), std::move(hint)});
}

void settings_layers::refuse(const setting_key& key, const std::string& where,
                             std::string_view text, const error& why) {
  complain(where, shown(key, text) + " " + why.text,
           "expected " + key.expects());
}

void settings_layers::store(const setting_key& key, std::string_view text,
                            setting_origin origin) {
  if (auto stored = assign(done_.values, key, text); !stored)
    refuse(key, origin.where, text, stored.error());
  else
    done_.origins[key.path()] = std::move(origin);
}

// -- the file ----------------------------------------------------------------

std::string settings_layers::place(const file_entry& entry) const {
  return entry.line == 0 ? done_.file
                         : done_.file + ":" + std::to_string(entry.line);
}

void settings_layers::file(std::string name,
                           const std::vector<file_entry>& entries) {
  done_.file = std::move(name);
  for (auto& entry : entries)
    from_file(entry);
}

void settings_layers::from_file(const file_entry& entry) {
  auto path = entry.group + "." + entry.name;
  auto key = find_setting(entry.group, entry.name);
  if (!key) {
    auto near = nearest_setting(path);
    complain(place(entry), path + " is no setting",
             near.empty() ? "`troupe config keys` lists them all"
                          : "did you mean " + near + "?");
    return;
  }
  settings probe;
  if (!fits(entry.type, entry.text, key->slot(probe))) {
    refuse(*key, place(entry), entry.text,
           bad_request("is " + std::string{to_text(entry.type)}));
    return;
  }
  if (entry.type != kind::list) {
    store(*key, entry.text, {origin_kind::file, place(entry)});
    return;
  }
  if (auto stored = assign_items(done_.values, *key, entry.items); !stored)
    refuse(*key, place(entry), "[...]", stored.error());
  else
    done_.origins[key->path()] = {origin_kind::file, place(entry)};
}

// -- the environment ---------------------------------------------------------

void settings_layers::environment(const process_environment& variables) {
  std::vector<std::string> known;
  for (auto& key : setting_keys()) {
    from_environment(key, variables);
    known.push_back(key.variable());
    if (may_be_in_file(key))
      known.push_back(key.variable() + "_FILE");
  }
  // TROUPE_HTTP_LISTN would be a silent default otherwise.
  for (auto& [name, value] : variables)
    for (auto& group : setting_groups())
      if (name.starts_with("TROUPE_" + upper(group.name) + "_")
          && std::find(known.begin(), known.end(), name) == known.end())
        done_.warnings.push_back(name + " is the name of no setting");
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
  std::ifstream in{path, std::ios::binary};
  std::string text(largest_secret_file, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty()) {
    complain(variable, path + " cannot be read or is empty",
             "it holds the value of " + key.path());
    return;
  }
  store(key, text, {origin_kind::environment, variable});
  wipe(text.data(), text.size());
}

// -- the command line --------------------------------------------------------

void settings_layers::flag(std::string_view path, std::string_view text,
                           std::string name) {
  auto key = find_setting(path);
  if (!key) {
    auto near = nearest_setting(path);
    complain(std::move(name), std::string{path} + " is no setting",
             near.empty() ? "`troupe config keys` lists them all"
                          : "did you mean --" + near + "?");
  } else if (key->is_secret()) {
    complain(std::move(name), "everybody on this machine can read it there",
             "use " + key->variable() + " or config.ini");
  } else {
    store(*key, text, {origin_kind::flag, std::move(name)});
  }
}

result<configuration> settings_layers::finish() && {
  if (complaints_.empty())
    complaints_ = contradictions(done_.values);
  if (complaints_.empty())
    return std::move(done_);
  error all;
  all.code = ec::invalid_request;
  for (auto& [where, reason, hint] : complaints_) {
    all.text += all.text.empty() ? "" : "\n";
    all.text += where + ": " + reason + (hint.empty() ? "" : "; " + hint);
  }
  all.fields = std::move(complaints_);
  return all;
}

} // namespace troupe
