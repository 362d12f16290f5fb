#include "runtime/model/warm_optimizations.hpp"
#include "runtime/settings/layers.hpp"

namespace troupe {

namespace {

class findings {
public:
  void together(std::string_view a, bool has_a, std::string_view b,
                bool has_b) {
    if (has_a != has_b)
      add(has_a ? a : b, "needs " + std::string{has_a ? b : a} + " as well");
  }

  template <class T>
  void at_most(std::string_view name, T standard, T ceiling) {
    if (standard > ceiling)
      add("limits." + std::string{name},
          "is above limits.max-" + std::string{name},
          "raise limits.max-" + std::string{name});
  }

  void add(std::string_view where, std::string reason, std::string hint = {}) {
    all_.push_back({std::string{where}, std::move(reason), std::move(hint)});
  }

  std::vector<field_error> take() { return std::move(all_); }

private:
  std::vector<field_error> all_;
};

void check_limits(findings& found, const limits& standard,
                  const limits& ceiling) {
  found.at_most("wall", standard.wall, ceiling.wall);
  found.at_most("cpu", standard.cpu, ceiling.cpu);
  found.at_most("memory", standard.memory_bytes, ceiling.memory_bytes);
  found.at_most("processes", standard.processes, ceiling.processes);
  found.at_most("open-files", standard.open_files, ceiling.open_files);
  found.at_most("disk", standard.disk_bytes, ceiling.disk_bytes);
  found.at_most("inodes", standard.inodes, ceiling.inodes);
  found.at_most("output", standard.output_bytes, ceiling.output_bytes);
  found.at_most("result", standard.result_bytes, ceiling.result_bytes);
}

void check_cluster(findings& found, const settings::cluster_group& c) {
  if (c.node_timeout < 2 * c.heartbeat)
    found.add("cluster.node-timeout", "is below two heartbeats",
              "raise it, or lower cluster.heartbeat");
  if (c.name.empty()) {
    if (!c.listen.empty() || !c.seeds.empty())
      found.add(c.listen.empty() ? "cluster.seeds" : "cluster.listen",
                "needs cluster.name", "every node of a cluster needs a name");
    return;
  }
  // CAF's TLS is fail-open, ours is not: all of it or no cluster.
  if (c.certificate.empty() || c.key.empty() || c.ca.empty())
    found.add("cluster.name",
              "needs cluster.certificate, cluster.key and cluster.ca",
              "nodes only communicate over mutual TLS");
}

void check_optimizations(findings& found,
                         const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (find_warm_optimization(name) == nullptr)
      found.add("local.disabled-optimizations", "does not know '" + name + "'",
                "it knows " + names_of({}, ", "));
}

/// Where runs go by default: a backend, or an account that there is.
void check_provider(findings& found, const settings& s) {
  const auto& wanted = s.dispatch.default_backend;
  if (parse_backend(wanted))
    return;
  std::string known;
  for (const auto& each : s.accounts) {
    if (each.name.text() == wanted)
      return;
    known += ", " + std::string{each.name.text()};
  }
  found.add("dispatch.default-backend", "'" + wanted + "' is not a backend",
            "one of e2b, daytona, modal, aio, peer, local" + known);
}

/// A forgotten key must not be the reason why every run is refused, or why none
/// is.
void check_fail_closed(findings& found, const settings& s) {
  const auto& provider = s.dispatch.default_backend;
  const char* missing = "";
  if (provider == "e2b" && s.e2b.api_key.empty())
    missing = "e2b.api-key";
  if (provider == "modal" && s.modal.token_id.empty()
      && s.modal.endpoint_url.empty())
    missing = "modal.token-id";
  if (provider == "daytona" && s.daytona.api_key.empty())
    missing = "daytona.api-key";
  if (provider == "aio" && s.aio.host.empty())
    missing = "aio.host";
  if (s.dispatch.fail_closed && *missing)
    found.add("dispatch.fail-closed",
              "would refuse every run: the default backend is " + provider
                + ", but " + missing + " is not set",
              "set it, or change dispatch.default-backend");
}

} // namespace

std::vector<field_error> contradictions(const settings& s) {
  findings found;
  check_limits(found, s.limits.standard, s.limits.ceiling);
  found.together("http.tls-certificate", !s.http.tls_certificate.empty(),
                 "http.tls-key", !s.http.tls_key.empty());
  found.together("modal.token-id", !s.modal.token_id.empty(),
                 "modal.token-secret", !s.modal.token_secret.empty());
  found.together("modal.proxy-token-id", !s.modal.proxy_token_id.empty(),
                 "modal.proxy-token-secret",
                 !s.modal.proxy_token_secret.empty());
  if (s.credentials.webhook_url.empty() && !s.credentials.webhook_key.empty())
    found.add("credentials.webhook-key", "needs credentials.webhook-url");
  if (s.compat.letta_secure && s.compat.letta_password.empty())
    found.add("compat.letta-secure", "needs compat.letta-password",
              "set LETTA_SERVER_PASSWORD");
  if (!s.local.network_allow.empty() && s.local.network != "allow")
    found.add("local.network-allow", "has no effect",
              "set local.network = \"allow\"");
  check_optimizations(found, s.local.disabled_optimizations);
  if (s.dispatch.breaker_pause > s.dispatch.breaker_max_pause)
    found.add("dispatch.breaker-pause", "is above dispatch.breaker-max-pause");
  if (s.sandbox.timeout > s.sandbox.max_life)
    found.add("sandbox.timeout", "is above sandbox.max-life");
  check_provider(found, s);
  check_fail_closed(found, s);
  check_cluster(found, s.cluster);
  return found.take();
}

} // namespace troupe
