#include "runtime/settings/accounts.hpp"

#include <algorithm>

namespace troupe {

namespace {

void copy_group(std::string_view group, settings& from, settings& to) {
  for (const auto& key : setting_keys())
    if (key.group == group)
      std::visit(
        [&](auto* value) { *std::get<decltype(value)>(key.slot(to)) = *value; },
        key.slot(from));
}

} // namespace

std::string_view account_groups::provider_of(std::string_view group) {
  const auto dot = group.find('.');
  if (dot == group.npos)
    return {};
  const auto provider = group.substr(0, dot);
  auto kind = parse_backend(provider);
  return kind && facts_of(*kind).is_provider ? provider : std::string_view{};
}

std::vector<field_error> account_groups::finish(settings& all) {
  std::vector<field_error> complaints;
  for (auto& [group, own] : groups_) {
    const std::string_view provider = provider_of(group);
    auto name
      = backend_name::make(*parse_backend(provider),
                           std::string_view{group}.substr(provider.size() + 1));
    if (!name) {
      const auto& why = name.error();
      const bool of_field = !why.fields.empty();
      complaints.push_back({"[" + group + "]",
                            of_field ? why.fields[0].reason : why.text,
                            of_field ? why.fields[0].hint : ""});
      continue;
    }
    auto whole = std::make_shared<settings>(all);
    whole->accounts.clear();
    copy_group(provider, own, *whole);
    all.accounts.push_back({*name, std::move(whole)});
  }
  return complaints;
}

} // namespace troupe
