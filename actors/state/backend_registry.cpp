#include "actors/state/backend_registry.hpp"

namespace troupe {

void backend_entry::succeeded() {
  const auto told = breaker.succeeded(circuit_breaker::clock::now());
  if (told == circuit_breaker::change::closed && warn_)
    warn_("backend " + std::string{to_string(kind)} + " accepts runs again");
}

void backend_entry::failed(std::string_view why) {
  const auto now = circuit_breaker::clock::now();
  const auto told = breaker.failed(now);
  if (told == circuit_breaker::change::opened && warn_)
    warn_("backend " + std::string{to_string(kind)} + " is "
          + why_passed_over(breaker.look(now))
          + "; the last failure: " + std::string{why});
}

result<void> backend_entry::ready() const {
  if (std::chrono::steady_clock::now() < doubted_until_.load())
    return error{ec::unavailable, "its executors keep failing"};
  return carrier->ready();
}

result<std::unique_ptr<backend_registry>>
backend_registry::make(const std::vector<std::shared_ptr<backend>>& backends,
                       const breaker_options& options,
                       const backend_entry::warning& warn) {
  auto board = std::make_unique<backend_registry>();
  for (const auto& each : backends) {
    auto& desk = board->desks_[static_cast<std::size_t>(each->kind())];
    if (desk)
      return error{ec::invalid_request,
                   "two backends are of kind "
                     + std::string{to_string(each->kind())}
                     + "; configure one per kind"};
    desk = std::make_unique<backend_entry>(each, options, warn);
  }
  return board;
}

std::vector<backend_kind> backend_registry::kinds() const {
  std::vector<backend_kind> all;
  for (const auto& desk : desks_)
    if (desk)
      all.push_back(desk->kind);
  return all;
}

} // namespace troupe
