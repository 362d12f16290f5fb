#include "app/unsupported.hpp"

#include "runtime/log.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::array<std::string_view, 2> not_obeyed{"compat.e2b",
                                                     "local.venv-name"};

} // namespace

void warn_of_unsupported(const configuration& what) {
  for (auto& key : setting_keys()) {
    auto origin = what.origin_of(key);
    auto path = key.path();
    if (origin.kind != origin_kind::standard
        && std::find(not_obeyed.begin(), not_obeyed.end(), path)
          != not_obeyed.end())
      log::warning("this version does not obey a setting",
                   {{"setting", path}, {"from", origin.where}});
  }
}

} // namespace troupe
