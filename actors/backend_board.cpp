#include "actors/backend_board.hpp"

namespace troupe {

result<void> backend_desk::ready() const {
  if (std::chrono::steady_clock::now() < doubted_until_.load())
    return error{ec::unavailable, "its executors keep dying"};
  return carrier->ready();
}

result<std::unique_ptr<backend_board>>
backend_board::make(const std::vector<std::shared_ptr<backend>>& backends,
                    const breaker_options& options) {
  auto board = std::make_unique<backend_board>();
  for (const auto& each : backends) {
    auto& desk = board->desks_[static_cast<std::size_t>(each->kind())];
    if (desk)
      return error{ec::invalid_request,
                   "two backends are of kind "
                     + std::string{to_string(each->kind())}
                     + "; give one per kind"};
    desk = std::make_unique<backend_desk>(each, options);
  }
  return board;
}

std::vector<backend_kind> backend_board::kinds() const {
  std::vector<backend_kind> all;
  for (const auto& desk : desks_)
    if (desk)
      all.push_back(desk->kind);
  return all;
}

} // namespace troupe
