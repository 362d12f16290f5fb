#include "net/client/metrics.hpp"

#include "runtime/base/metrics_writer.hpp"

namespace troupe::net {

std::string client_metrics(const client_counters& counters) {
  metrics_writer out;
  auto say = [&out](std::string_view name, std::string_view type,
                    std::string_view help, const client_counters::counter& n) {
    auto whole = "troupe_client_" + std::string{name};
    out.head(whole, type, help);
    out.line(whole, "", n.load());
  };
  auto total = [&say](std::string_view name, std::string_view help,
                      const client_counters::counter& n) {
    say(std::string{name} + "_total", "counter", help, n);
  };
  total("requests", "Requests to providers and webhooks.", counters.requests);
  total("retries", "Retried requests.", counters.retries);
  total("failures", "Requests that got no response.", counters.failures);
  total("connections_opened", "Connections opened.",
        counters.connections_opened);
  total("connections_reused", "Requests that reused a connection.",
        counters.connections_reused);
  say("connections_idle", "gauge", "Idle connections.",
      counters.connections_idle);
  return out.take();
}

} // namespace troupe::net
