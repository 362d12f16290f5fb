#include "actors/state/backend_registry.hpp"

namespace troupe {

void backend_entry::succeeded(circuit_breaker::clock::time_point now) {
  const auto told = breaker.succeeded(now);
  if (told == circuit_breaker::change::closed && warn_)
    warn_("backend " + std::string{to_string(name)} + " accepts runs again");
}

void backend_entry::failed(std::string_view why,
                           circuit_breaker::clock::time_point now) {
  const auto told = breaker.failed(now);
  if (told == circuit_breaker::change::opened && warn_)
    warn_("backend " + std::string{to_string(name)} + " is "
          + why_passed_over(breaker.look(now))
          + "; the last failure: " + std::string{why});
}

result<void>
backend_entry::ready(circuit_breaker::clock::time_point now) const {
  if (now < doubted_until_.load())
    return error{ec::unavailable, "its executors keep failing"};
  return backend->ready();
}

result<std::unique_ptr<backend_registry>>
backend_registry::make(const std::vector<std::shared_ptr<backend>>& backends,
                       const breaker_options& options,
                       const backend_entry::warning& warn) {
  auto registry = std::make_unique<backend_registry>();
  for (const auto& each : backends) {
    auto& entry = registry->entries_[each->name().index()];
    if (entry)
      return error{ec::invalid_request,
                   "two backends are called "
                     + std::string{to_string(each->name())}
                     + "; configure each a name of its own"};
    entry = std::make_unique<backend_entry>(each, options, warn);
  }
  return registry;
}

std::vector<backend_name> backend_registry::names() const {
  std::vector<backend_name> all;
  for (const auto& entry : entries_)
    if (entry)
      all.push_back(entry->name);
  return all;
}

} // namespace troupe
