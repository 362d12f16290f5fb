// storage, compat, telemetry, cluster
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::vector<setting_key> storage() {
  return {
    row("storage", "master-key", TROUPE_AT(storage.master_key),
        "Seals all secrets: 64 hex digits; while rotating, two with a comma.")
      .also("TROUPE_MASTER_KEY"),
    row("storage", "master-key-file", TROUPE_AT(storage.master_key_file),
        "File with that key; empty: master.key in the data-dir, made once.")
      .form(text_form::path),
    row("storage", "block-cache", TROUPE_AT(storage.block_cache),
        "Memory for what was read from disk.")
      .between(1 * MiB, 1 * TiB),
    row("storage", "max-runs", TROUPE_AT(storage.max_runs),
        "Records of runs kept per organization; the oldest go first.")
      .between(100, 1'000'000'000),
    row("storage", "runs-size", TROUPE_AT(storage.runs_bytes),
        "What they may take together, per organization.")
      .between(1 * MiB, 16 * TiB),
    row("storage", "max-audit", TROUPE_AT(storage.max_audit),
        "Lines of the audit record kept per organization.")
      .between(1'000, 1'000'000'000),
  };
}

std::vector<setting_key> compat() {
  return {
    row("compat", "letta", TROUPE_AT(compat.letta),
        "Serve Letta clients under /compat/letta."),
    row("compat", "letta-reveal-values", TROUPE_AT(compat.reveal_values),
        "Send the values of variables back to Letta clients, as Letta does."),
    row("compat", "letta-secure", TROUPE_AT(compat.letta_secure),
        "Ask Letta clients for letta-password.")
      .also("LETTA_SERVER_SECURE"),
    row("compat", "letta-password", TROUPE_AT(compat.letta_password),
        "What Letta clients send as their token.")
      .also("LETTA_SERVER_PASSWORD"),
    row("compat", "letta-encryption-key",
        TROUPE_AT(compat.letta_encryption_key),
        "Opens what a Letta server sealed, for `troupe env import`.")
      .also("LETTA_ENCRYPTION_KEY"),
  };
}

std::vector<setting_key> telemetry() {
  return {
    row("telemetry", "metrics", TROUPE_AT(telemetry.metrics),
        "Serve /metrics in Prometheus' text format."),
    row("telemetry", "metrics-without-key",
        TROUPE_AT(telemetry.metrics_without_key),
        "Show /metrics and /readyz?verbose to anybody, beyond loopback, too."),
    row("telemetry", "otlp-endpoint", TROUPE_AT(telemetry.otlp_endpoint),
        "OTLP/HTTP collector for traces; empty: none are sent.")
      .form(text_form::url)
      .also("OTEL_EXPORTER_OTLP_ENDPOINT")
      .also("LETTA_OTEL_EXPORTER_OTLP_ENDPOINT"),
    row("telemetry", "otlp-headers", TROUPE_AT(telemetry.otlp_headers),
        "Headers for it, as name=value,name=value.")
      .also("OTEL_EXPORTER_OTLP_HEADERS"),
    row("telemetry", "sample", TROUPE_AT(telemetry.sample),
        "Share of the traces that are sent.")
      .between(0, 1),
  };
}

std::vector<setting_key> cluster() {
  return {
    row("cluster", "name", TROUPE_AT(cluster.name), "Name of this node."),
    row("cluster", "listen", TROUPE_AT(cluster.listen),
        "Address for other nodes; never a public one.")
      .form(text_form::address),
    row("cluster", "seeds", TROUPE_AT(cluster.seeds),
        "Nodes that take runs of backend peer, each host:port.")
      .form(text_form::address),
    row("cluster", "certificate", TROUPE_AT(cluster.certificate),
        "PEM file with the certificate of this node.")
      .form(text_form::path),
    row("cluster", "key", TROUPE_AT(cluster.key),
        "PEM file with its private key.")
      .form(text_form::path),
    row("cluster", "authority", TROUPE_AT(cluster.authority),
        "PEM file with the one authority that signs nodes.")
      .form(text_form::path),
  };
}

} // namespace

std::vector<setting_key> back() {
  std::vector<setting_key> all;
  for (auto part : {storage(), compat(), telemetry(), cluster()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
