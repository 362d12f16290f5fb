#include "runtime/settings/layers.hpp"

#include "runtime/settings/value.hpp"
#include "runtime/settings/value_format.hpp"

namespace troupe {

namespace {

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

setting_origin configuration::origin_of(const setting_key& key) const {
  auto found = origins.find(key.path());
  return found == origins.end() ? setting_origin{} : found->second;
}

void settings_layers::complain(std::string where, std::string reason,
                               std::string hint) {
  complaints_.push_back({std::move(where), std::move(reason), std::move(hint)});
}

void settings_layers::complain_of_unknown(std::string where,
                                          std::string_view path,
                                          std::string_view prefix) {
  auto near = nearest_setting(path);
  complain(std::move(where), std::string{path} + " is not a setting",
           near.empty() ? "run `troupe config keys` for a list"
                        : "did you mean " + std::string{prefix} + near + "?");
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
                           const std::vector<file_entry>& entries,
                           bool open_to_all) {
  done_.file = std::move(name);
  done_.file_is_open = open_to_all;
  for (auto& entry : entries)
    from_file(entry);
}

void settings_layers::from_file(const file_entry& entry) {
  if (entry.name.empty())
    return; // the line of a [group]
  if (auto of = account_groups::provider_of(entry.group); !of.empty())
    return from_account(entry, of);
  auto path = entry.group + "." + entry.name;
  auto key = find_setting(entry.group, entry.name);
  if (!key)
    return complain_of_unknown(place(entry), path);
  if (!entry.is_list) {
    store(*key, entry.text, {origin_kind::file, place(entry)});
    return;
  }
  if (auto stored = assign_items(done_.values, *key, entry.items); !stored)
    refuse(*key, place(entry), "[...]", stored.error());
  else
    done_.origins[key->path()] = {origin_kind::file, place(entry)};
}

void settings_layers::from_account(const file_entry& entry,
                                   std::string_view provider) {
  auto path = entry.group + "." + entry.name;
  auto key = find_setting(provider, entry.name);
  if (!key)
    return complain_of_unknown(place(entry),
                               std::string{provider} + "." + entry.name);
  auto& into = accounts_.of(entry.group);
  auto stored = entry.is_list ? assign_items(into, *key, entry.items)
                              : assign(into, *key, entry.text);
  if (!stored)
    refuse(*key, place(entry), entry.is_list ? "[...]" : entry.text,
           stored.error());
  else
    done_.origins[path] = {origin_kind::file, place(entry)};
}

// -- the command line --------------------------------------------------------

void settings_layers::flag(std::string_view path, std::string_view text,
                           std::string name) {
  auto key = find_setting(path);
  if (!key) {
    complain_of_unknown(std::move(name), path, "--");
  } else if (key->is_secret()) {
    complain(std::move(name), "all users of this machine can read it there",
             "use " + key->variable() + " or config.ini");
  } else {
    store(*key, text, {origin_kind::flag, std::move(name)});
  }
}

// -- a program with the engine inside ----------------------------------------

void settings_layers::program(std::string_view path, std::string_view text) {
  const std::string where{"embedded_options::settings"};
  if (auto key = find_setting(path))
    store(*key, text, {origin_kind::program, where});
  else
    complain_of_unknown(where, path);
}

result<configuration> settings_layers::finish() && {
  if (complaints_.empty())
    complaints_ = accounts_.finish(done_.values);
  if (complaints_.empty())
    complaints_ = settle(done_);
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
