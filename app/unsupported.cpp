#include "app/unsupported.hpp"

#include "runtime/log.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::array<std::string_view, 4> groups{"credentials", "modal",
                                                 "daytona", "aio"};

constexpr std::array<std::string_view, 9> single{
  "cluster.seeds",   "e2b.api-key",
  "e2b.domain",      "e2b.api-url",
  "e2b.sandbox-url", "e2b.timeout",
  "compat.e2b",      "local.venv-name",
  "compat.letta-encryption-key"};

bool obeyed(const setting_key& key) {
  return std::find(groups.begin(), groups.end(), key.group) == groups.end()
    && std::find(single.begin(), single.end(), key.path()) == single.end();
}

error refusal(std::string text) {
  error e;
  e.code = ec::invalid_request;
  e.text = std::move(text);
  return e;
}

} // namespace

result<void> check_supported(const configuration& what) {
  auto& s = what.values;
  if (!s.credentials.webhook_url.empty() && s.credentials.on_error == "fail")
    return refusal("credentials.on-error is fail, but this version asks no "
                   "webhook; take credentials.webhook-url away");
  for (auto& key : setting_keys()) {
    auto origin = what.origin_of(key);
    if (origin.kind == origin_kind::standard || obeyed(key))
      continue;
    auto path = key.path();
    log::warning("this version does not obey a setting",
                 {{"setting", path}, {"from", origin.where}});
  }
  return {};
}

} // namespace troupe
