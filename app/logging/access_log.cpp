#include "app/logging/access_log.hpp"

#include "app/logging/logging.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::string_view of_probes[] = {"/livez", "/readyz", "/metrics"};

bool is_wanted(const settings& s) {
  if (s.log.access == "auto")
    return logging_options::from(s).json;
  return s.log.access == "on";
}

log::level weight_of(const net::access_entry& entry, bool wanted) {
  if (entry.status >= 500)
    return log::level::warning;
  bool is_probe
    = std::ranges::find(of_probes, entry.route) != std::ranges::end(of_probes);
  return wanted && !is_probe ? log::level::info : log::level::debug;
}

} // namespace

std::function<void(const net::access_entry&)> access_log_of(const settings& s) {
  return [wanted = is_wanted(s)](const net::access_entry& entry) {
    auto weight = weight_of(entry, wanted);
    if (!log::enabled(weight))
      return;
    auto status = std::to_string(entry.status);
    auto bytes = std::to_string(entry.bytes_out);
    auto took = std::to_string(entry.took.count());
    log::write(weight, "http request",
               {{"method", entry.method},
                {"route", entry.route},
                {"status", status},
                {"bytes_out", bytes},
                {"duration_us", took},
                {"request_id", entry.request_id},
                {"trace_id", entry.trace_id},
                {"organization", entry.organization},
                {"key_id", entry.key_id},
                {"peer", entry.peer}});
  };
}

} // namespace troupe
