#include "runtime/local/host_probe.hpp"

namespace troupe {

void host_probe::succeed(isolation::probe_report report) {
  std::lock_guard lock{mutex_};
  report_ = std::move(report);
  trouble_.clear();
  is_done_ = true;
  finished_.notify_all();
}

void host_probe::fail(std::string why) {
  std::lock_guard lock{mutex_};
  trouble_ = std::move(why);
  is_done_ = true;
  finished_.notify_all();
}

bool host_probe::is_done() const {
  std::lock_guard lock{mutex_};
  return is_done_;
}

void host_probe::wait() const {
  std::unique_lock lock{mutex_};
  finished_.wait(lock, [this] { return is_done_; });
}

isolation::probe_report host_probe::report() const {
  std::lock_guard lock{mutex_};
  return report_;
}

bool host_probe::has(std::string_view layer) const {
  std::lock_guard lock{mutex_};
  return report_.has(layer);
}

result<void> host_probe::allows(isolation_level level) const {
  std::lock_guard lock{mutex_};
  auto text = trouble_;
  if (text.empty() && level != isolation_level::best_effort
      && level != isolation_level::off)
    text = report_.missing_core();
  if (text.empty())
    return {};
  return error{ec::unavailable, std::move(text), {}, {}};
}

} // namespace troupe
