#include "runtime/model/package_requirement_merge.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace troupe {

namespace {

bool is_exact(std::string_view specifier) {
  return specifier.starts_with("==") && specifier.find(',') == specifier.npos
    && !specifier.ends_with(".*");
}

error conflict(std::string_view pointer, const std::string& a,
               std::string_view a_name, const std::string& b,
               std::string_view b_name) {
  return bad_field(std::string{pointer},
                   std::string{a_name} + " needs " + a + " but "
                     + std::string{b_name} + " needs " + b,
                   "make them agree, or leave one of them out");
}

} // namespace

std::string normalized_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      if (!out.ends_with('-'))
        out += '-';
    } else {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

result<std::vector<pip_requirement>>
merge(const std::vector<pip_requirement>& first, std::string_view first_name,
      const std::vector<pip_requirement>& second,
      std::string_view second_name) {
  auto all = first;
  for (const auto& each : second) {
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& x) {
      return x.marker == each.marker
        && normalized_name(x.name) == normalized_name(each.name);
    });
    if (same == all.end()) {
      all.push_back(each);
      continue;
    }
    for (const auto& extra : each.extras)
      if (std::find(same->extras.begin(), same->extras.end(), extra)
          == same->extras.end())
        same->extras.push_back(extra);
    if (each.specifier.empty() || each.specifier == same->specifier)
      continue;
    if (same->specifier.empty())
      same->specifier = each.specifier;
    else if (is_exact(each.specifier) && is_exact(same->specifier))
      return conflict("/pip_requirements", to_string(*same), first_name,
                      to_string(each), second_name);
    else // the installer says whether a version satisfies both
      same->specifier += "," + each.specifier;
  }
  return all;
}

result<std::vector<npm_requirement>>
merge(const std::vector<npm_requirement>& first, std::string_view first_name,
      const std::vector<npm_requirement>& second,
      std::string_view second_name) {
  auto all = first;
  for (const auto& each : second) {
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& x) {
      return x.name == each.name;
    });
    if (same == all.end())
      all.push_back(each);
    else if (same->version.empty())
      same->version = each.version;
    else if (!each.version.empty() && each.version != same->version)
      return conflict("/npm_requirements", to_string(*same), first_name,
                      to_string(each), second_name);
  }
  return all;
}

} // namespace troupe
