#include "net/server/metrics.hpp"

#include "runtime/base/metrics_writer.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

using all_counters = std::vector<const counters*>;

constexpr auto label = &metrics_writer::label;

void total(metrics_writer& out, std::string_view name, std::string_view help,
           const all_counters& all, tally counters::*which) {
  std::uint64_t sum = 0;
  for (auto* c : all)
    sum += (c->*which).value();
  out.counter(name, help, sum);
}

void requests(metrics_writer& out, const all_counters& all,
              const router& routes) {
  constexpr std::string_view name = "troupe_http_requests_total";
  out.head(name, "counter", "Requests by route and status class.");
  auto count = routes.routes().size();
  for (std::size_t r = 0; r <= count; ++r)
    for (std::size_t c = 1; c < 6; ++c) {
      std::uint64_t sum = 0;
      for (auto* one : all)
        sum += one->by_route[r].by_class[c].value();
      if (sum == 0)
        continue;
      const auto* route = r < count ? &routes.routes()[r] : nullptr;
      out.line(name,
               label("method", route ? to_string(route->verb) : "other") + ","
                 + label("route", route ? route->path : "none") + ","
                 + label("status", std::to_string(c) + "xx"),
               sum);
    }
}

void durations(metrics_writer& out, const all_counters& all) {
  constexpr std::string_view name = "troupe_http_request_duration_seconds";
  out.head(name, "histogram", "Time from request header to response.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= counters::bounds.size(); ++i) {
    for (auto* one : all)
      sum += one->took[i].value();
    auto bound = i < counters::bounds.size()
      ? metrics_writer::number(counters::bounds[i])
      : "+Inf";
    out.line("troupe_http_request_duration_seconds_bucket", label("le", bound),
             sum);
  }
  std::uint64_t time = 0;
  for (auto* one : all)
    time += one->took_microseconds.value();
  out.line("troupe_http_request_duration_seconds_sum", "",
           static_cast<double>(time) / 1e6);
  out.line("troupe_http_request_duration_seconds_count", "", sum);
}

} // namespace

void counters::note(std::size_t route, int status,
                    std::chrono::microseconds time) {
  auto kind = static_cast<std::size_t>(std::clamp(status / 100, 0, 5));
  by_route[std::min(route, by_route.size() - 1)].by_class[kind].add();
  auto seconds = static_cast<double>(time.count()) / 1e6;
  auto at = std::lower_bound(bounds.begin(), bounds.end(), seconds);
  took[static_cast<std::size_t>(at - bounds.begin())].add();
  took_microseconds.add(static_cast<std::uint64_t>(time.count()));
}

std::string render(const all_counters& all, const router& routes) {
  metrics_writer out;
  requests(out, all, routes);
  durations(out, all);
  total(out, "troupe_http_connections_accepted_total", "Connections accepted.",
        all, &counters::accepted);
  total(out, "troupe_http_connections_rejected_total",
        "Connections rejected because a limit was reached.", all,
        &counters::turned_away);
  total(out, "troupe_http_connections_evicted_total",
        "Idle connections closed to make room.", all, &counters::evicted);
  total(out, "troupe_http_accept_failures_total",
        "Failed accepts because of a lack of descriptors or memory.", all,
        &counters::accept_failures);
  total(out, "troupe_http_timeouts_total", "Connections closed at a deadline.",
        all, &counters::timed_out);
  total(out, "troupe_http_protocol_errors_total",
        "Requests that violated HTTP.", all, &counters::refused);
  total(out, "troupe_http_streams_dropped_total",
        "Streams ended because their reader was too slow.", all,
        &counters::streams_dropped);
  total(out, "troupe_http_received_bytes_total", "Bytes received.", all,
        &counters::bytes_in);
  total(out, "troupe_http_sent_bytes_total", "Bytes sent.", all,
        &counters::bytes_out);
  return out.take();
}

} // namespace troupe::net
