#include "runtime/model/backend_kind.hpp"

namespace troupe {

namespace {

constexpr bool in_order() {
  for (std::size_t i = 0; i < backend_kinds; ++i)
    if (backend_kinds_known[i].kind != static_cast<backend_kind>(i))
      return false;
  return true;
}
static_assert(in_order());

std::string all_names() {
  std::string all;
  for (const auto& each : backend_kinds_known)
    all += (all.empty() ? "" : ", ") + std::string{each.text};
  return all;
}

} // namespace

result<backend_kind> parse_backend(std::string_view text) {
  for (const auto& each : backend_kinds_known)
    if (each.text == text)
      return each.kind;
  return bad_field("",
                   "'" + std::string{text.substr(0, 64)} + "' is not a backend",
                   "one of " + all_names());
}

} // namespace troupe
