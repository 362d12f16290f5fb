#include "runtime/model/limit_fields.hpp"

#include <algorithm>

namespace troupe {

limits apply(limits base, const limit_overrides& said, const limits& ceiling) {
  for_each_row(limit_fields, [&](const auto& f) {
    auto& value = f.of(base);
    value = std::min(f.of(said).value_or(value), f.of(ceiling));
  });
  return base;
}

limit_overrides all_of(const limits& l) {
  limit_overrides all;
  for_each_row(limit_fields, [&](const auto& f) { f.of(all) = f.of(l); });
  return all;
}

limit_overrides over(const limits& base, limit_overrides said) {
  for_each_row(limit_fields, [&](const auto& f) {
    if (!f.of(said))
      f.of(said) = f.of(base);
  });
  return said;
}

} // namespace troupe
