#include "runtime/settings/table.hpp"

#include "runtime/json/reader.hpp"

#include <cctype>

namespace troupe {

namespace {

constexpr setting_group groups[] = {
  {"engine", "The engine process."},
  {"watchdog", "What happens when an io thread is stuck."},
  {"http", "The HTTP listener."},
  {"log", "The log, written to stderr."},
  {"limits",
   "Default limits of a run; max-* bound what a request may ask for."},
  {"files", "Files that runs take in and give back."},
  {"local", "The local backend: runs on this machine."},
  {"dispatch", "Admission, choice of a backend, circuit breakers."},
  {"sandbox", "Sandboxes that live between calls."},
  {"idempotency",
   "Idempotency-Key: requests that are repeated get the first answer."},
  {"credentials", "Webhook that provides short-lived credentials."},
  {"e2b", "The E2B backend; enabled by api-key."},
  {"modal", "The Modal backend; enabled by token-id and token-secret."},
  {"daytona", "The Daytona backend; enabled by api-key."},
  {"aio",
   "The AIO backend, one Agent Infra sandbox container; enabled by host."},
  {"storage", "Persistent storage and encryption."},
  {"compat", "Compatibility with clients of other systems."},
  {"mcp", "The Model Context Protocol: tools for agents."},
  {"telemetry", "Metrics and traces."},
  {"cluster", "Cluster; off unless name is set."},
};

std::vector<setting_key> collect() {
  std::vector<setting_key> all;
  for (auto part : {settings_table::front(), settings_table::work(),
                    settings_table::providers(), settings_table::back()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace

std::span<const setting_group> setting_groups() {
  return groups;
}

const std::vector<setting_key>& setting_keys() {
  static const auto all = collect();
  return all;
}

const setting_key* find_setting(std::string_view group, std::string_view name) {
  for (auto& key : setting_keys())
    if (key.group == group && key.name == name)
      return &key;
  return nullptr;
}

const setting_key* find_setting(std::string_view path) {
  auto dot = path.find('.');
  if (dot == path.npos)
    return nullptr;
  return find_setting(path.substr(0, dot), path.substr(dot + 1));
}

std::string nearest_setting(std::string_view path) {
  std::vector<std::string> paths;
  for (auto& key : setting_keys())
    paths.push_back(key.path());
  std::vector<std::string_view> known{paths.begin(), paths.end()};
  if (auto near = json::nearest(path.substr(0, 80), known); !near.empty())
    return near;
  // The right name in a wrong group.
  auto name = path.substr(path.find('.') + 1);
  for (auto& key : setting_keys())
    if (key.name == name)
      return key.path();
  return {};
}

bool setting_key::is_secret() const {
  settings probe;
  return std::holds_alternative<secret*>(slot(probe));
}

std::string setting_key::path() const {
  return std::string{group} + "." + std::string{name};
}

std::string setting_key::variable() const {
  auto text = "TROUPE_" + std::string{group} + "_" + std::string{name};
  for (auto& c : text)
    c = c == '-'
      ? '_'
      : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

} // namespace troupe
