// What follows from settings together, once all of them are known.
#include "runtime/settings/layers.hpp"
#include "runtime/settings/value.hpp"

#include <algorithm>
#include <thread>

namespace troupe {

namespace {

/// The first means nothing without the second.
struct dependence {
  std::string_view one;
  std::string_view other;
};
constexpr dependence halves[] = {
  {"modal.token-id", "modal.token-secret"},
  {"modal.token-secret", "modal.token-id"},
  {"modal.proxy-token-id", "modal.proxy-token-secret"},
  {"modal.proxy-token-secret", "modal.proxy-token-id"},
  {"credentials.webhook-key", "credentials.webhook-url"},
};

bool is_said(const configuration& c, std::string_view path) {
  return c.origins.contains(std::string{path});
}

/// Letta takes half a pair for none. Somebody who writes our own names means
/// them: that half is refused.
void leave_out_halves(configuration& c) {
  for (auto& [one, other] : halves) {
    const auto* key = find_setting(one);
    if (is_said(c, other) || !came_from_alias(c, *key))
      continue;
    if (!assign(c.values, *key, ""))
      continue;
    c.warnings.push_back(c.origin_of(*key).where
                         + " is ignored: it has no effect without "
                         + std::string{other});
    c.origins.erase(key->path());
  }
}

/// Whoever lets tools run longer means them to work for so long: on every core
/// that they may have.
void let_cpu_follow_wall(configuration& c) {
  if (!is_said(c, "limits.wall") || is_said(c, "limits.cpu"))
    return;
  auto& l = c.values.limits;
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  const auto enough = std::min(l.standard.wall * cores, l.ceiling.cpu);
  if (enough <= l.standard.cpu)
    return;
  l.standard.cpu = enough;
  c.origins["limits.cpu"] = c.origins["limits.wall"];
}

/// The one key that opens all others is refused, the others are warned of.
void look_for_open_secrets(configuration& c, std::vector<field_error>& found) {
  if (!c.file_is_open)
    return;
  std::string secrets;
  for (auto& key : setting_keys()) {
    const auto origin = c.origin_of(key);
    if (!key.is_secret() || origin.kind != origin_kind::file)
      continue;
    if (key.path() == "storage.master-key")
      found.push_back({key.path(),
                       "is in a file that all users of this machine can read",
                       "run: chmod 600 " + c.file});
    secrets += (secrets.empty() ? "" : ", ") + key.path();
  }
  for (const auto& [path, origin] : c.origins) {
    const auto dot = path.rfind('.');
    const auto of = account_groups::provider_of(path.substr(0, dot));
    const auto* key
      = of.empty() ? nullptr : find_setting(of, path.substr(dot + 1));
    if (key && key->is_secret())
      secrets += (secrets.empty() ? "" : ", ") + path;
  }
  if (!secrets.empty())
    c.warnings.push_back("all users of this machine can read " + c.file
                         + ", which contains " + secrets + "; run: chmod 600 "
                         + c.file);
}

/// Links prove who they are, but no more needs to reach them than a network
/// of one's own.
void look_for_open_door(configuration& c) {
  const auto& listen = c.values.cluster.listen;
  for (std::string_view any : {"0.0.0.0:", "[::]:", "*:"})
    if (listen.starts_with(any))
      c.warnings.push_back("cluster.listen = " + listen
                           + " accepts nodes on every address of this machine; "
                             "name the one of a private network");
}

} // namespace

std::vector<field_error> settle(configuration& c) {
  leave_out_halves(c);
  let_cpu_follow_wall(c);
  auto found = contradictions(c.values);
  look_for_open_secrets(c, found);
  look_for_open_door(c);
  // Where the value stands helps more than what it is called.
  for (auto& one : found)
    if (auto said = c.origins.find(one.pointer); said != c.origins.end()) {
      one.reason = one.pointer + " " + one.reason;
      one.pointer = said->second.where;
    }
  return found;
}

} // namespace troupe
