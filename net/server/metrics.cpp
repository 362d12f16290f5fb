#include "net/server/metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe::net {

namespace {

using all_counters = std::vector<const counters*>;

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

void head(std::string& out, std::string_view name, std::string_view type,
          std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void total(std::string& out, std::string_view name, std::string_view help,
           const all_counters& all, tally counters::*which) {
  head(out, name, "counter", help);
  std::uint64_t sum = 0;
  for (auto* c : all)
    sum += (c->*which).value();
  out.append(name).append(" ").append(std::to_string(sum)).append("\n");
}

void requests(std::string& out, const all_counters& all, const router& routes) {
  constexpr std::string_view name = "troupe_http_requests_total";
  head(out, name, "counter", "Requests by route and status class.");
  auto count = routes.routes().size();
  for (std::size_t r = 0; r <= count; ++r)
    for (std::size_t c = 1; c < 6; ++c) {
      std::uint64_t sum = 0;
      for (auto* one : all)
        sum += one->by_route[r].by_class[c].value();
      if (sum == 0)
        continue;
      out.append(name).append("{method=\"");
      out += r < count ? to_string(routes.routes()[r].verb) : "other";
      out.append("\",route=\"");
      out += r < count ? routes.routes()[r].path : "none";
      out.append("\",status=\"").append(std::to_string(c)).append("xx\"} ");
      out.append(std::to_string(sum)).append("\n");
    }
}

void durations(std::string& out, const all_counters& all) {
  constexpr std::string_view name = "troupe_http_request_duration_seconds";
  head(out, name, "histogram", "Time from request header to response.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= counters::bounds.size(); ++i) {
    for (auto* one : all)
      sum += one->took[i].value();
    auto bound
      = i < counters::bounds.size() ? number(counters::bounds[i]) : "+Inf";
    out.append(name).append("_bucket{le=\"").append(bound).append("\"} ");
    out.append(std::to_string(sum)).append("\n");
  }
  std::uint64_t time = 0;
  for (auto* one : all)
    time += one->took_microseconds.value();
  out.append(name).append("_sum ");
  out.append(number(static_cast<double>(time) / 1e6)).append("\n");
  out.append(name).append("_count ").append(std::to_string(sum)).append("\n");
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
  std::string out;
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
  return out;
}

} // namespace troupe::net
