#include "runtime/sandboxes/sandbox_pool.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/json/json.hpp"

#include <algorithm>

namespace troupe {

namespace {

template <class Requirement>
json::array sorted(const std::vector<Requirement>& all) {
  std::vector<std::string> texts;
  for (const auto& each : all)
    texts.push_back(to_string(each));
  std::ranges::sort(texts);
  json::array out;
  for (auto& text : texts)
    out.emplace_back(std::move(text));
  return out;
}

json::array sorted(std::vector<std::string> all) {
  std::ranges::sort(all);
  json::array out;
  for (auto& text : all)
    out.emplace_back(std::move(text));
  return out;
}

} // namespace

std::string sandbox_key(const sandbox_request& wanted,
                        const sandbox_provider& where) {
  // A JSON array and no joined text: no part can pass for another one.
  json::array parts;
  parts.emplace_back(wanted.organization.str());
  parts.emplace_back(config_of(wanted).id.str());
  parts.emplace_back(fingerprint(config_of(wanted)));
  parts.emplace_back(sorted(wanted.pip_requirements));
  parts.emplace_back(sorted(wanted.npm_requirements));
  parts.emplace_back(static_cast<int>(wanted.network.mode));
  parts.emplace_back(sorted(wanted.network.allow));
  parts.emplace_back(wanted.limits.memory_bytes);
  if (where.capabilities().installs_packages) { // the image depends on it
    parts.emplace_back(static_cast<int>(wanted.kind));
    parts.emplace_back(static_cast<int>(wanted.lang));
  }
  return hex(sha256(json::to_text(parts)));
}

std::optional<acquired_sandbox>
sandbox_pool::take(std::string_view key, const organization_id& organization,
                   bool may_follow) {
  auto best = idle_.end();
  for (auto i = idle_.begin(); i != idle_.end(); ++i) {
    // The key says as much; a mistake in it must not cost a secret.
    if (i->key != key || i->organization != organization)
      continue;
    if (i->used > 0 && !may_follow)
      continue;
    if (best == idle_.end() || i->used > 0 || best->used == 0)
      best = i;
  }
  if (best == idle_.end())
    return {};
  auto one = std::move(*best);
  idle_.erase(best);
  return one;
}

std::optional<acquired_sandbox> sandbox_pool::take_oldest() {
  if (idle_.empty())
    return {};
  auto one = std::move(idle_.front());
  idle_.pop_front();
  return one;
}

std::optional<acquired_sandbox> sandbox_pool::take_expired(time_point now) {
  auto late = std::ranges::find_if(idle_, [&](const acquired_sandbox& each) {
    return each.idle_until <= now;
  });
  if (late == idle_.end())
    return {};
  auto one = std::move(*late);
  idle_.erase(late);
  return one;
}

std::size_t sandbox_pool::unused() const {
  return static_cast<std::size_t>(std::ranges::count_if(
    idle_, [](const acquired_sandbox& each) { return each.used == 0; }));
}

sandbox_pool::time_point sandbox_pool::next_end() const {
  auto first = time_point::max();
  for (const auto& each : idle_)
    first = std::min(first, each.idle_until);
  return first;
}

} // namespace troupe
