// storage, compat, mcp, telemetry, cluster
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::vector<setting_key> storage() {
  return {
    row("storage", "master-key", TROUPE_AT(storage.master_key),
        "Master key that encrypts all secrets: 64 hex digits; during a "
        "rotation two keys, separated by a comma.")
      .also("TROUPE_MASTER_KEY"),
    row("storage", "master-key-file", TROUPE_AT(storage.master_key_file),
        "File with the master key; empty: master.key in data-dir, created on "
        "first use.")
      .form(text_form::path),
    row("storage", "block-cache", TROUPE_AT(storage.block_cache),
        "Memory for caching data read from disk.")
      .between(1 * MiB, 1 * TiB),
    row("storage", "max-run-records", TROUPE_AT(storage.max_run_records),
        "Maximum number of run records kept per organization; the oldest are "
        "deleted first.")
      .between(100, 1'000'000'000),
    row("storage", "max-run-bytes", TROUPE_AT(storage.max_run_bytes),
        "Maximum total size of run records per organization.")
      .between(1 * MiB, 16 * TiB),
    row("storage", "max-request-bytes", TROUPE_AT(storage.max_request_bytes),
        "Requests up to this size are kept, encrypted, with the record of "
        "their run, so that it can be run again; 0: none.")
      .between(0, 512 * KiB),
    row("storage", "max-audit-entries", TROUPE_AT(storage.max_audit_entries),
        "Maximum number of audit log entries kept per organization.")
      .between(1'000, 1'000'000'000),
  };
}

std::vector<setting_key> compat() {
  return {
    row("compat", "e2b", TROUPE_AT(compat.e2b),
        "Serve the E2B API under /compat/e2b."),
    row("compat", "e2b-listen", TROUPE_AT(compat.e2b_listen),
        "Address to serve the E2B API on at the root, as host:port; empty: it "
        "is served under /compat/e2b only.")
      .form(text_form::address),
    row("compat", "letta", TROUPE_AT(compat.letta),
        "Serve the Letta API under /compat/letta."),
    row("compat", "letta-reveal-values", TROUPE_AT(compat.reveal_values),
        "Return the values of variables to Letta clients, as Letta does."),
    row("compat", "letta-secure", TROUPE_AT(compat.letta_secure),
        "Require letta-password from Letta clients.")
      .also("LETTA_SERVER_SECURE"),
    row("compat", "letta-password", TROUPE_AT(compat.letta_password),
        "Password that Letta clients send as their token.")
      .also("LETTA_SERVER_PASSWORD"),
    row("compat", "letta-encryption-key",
        TROUPE_AT(compat.letta_encryption_key),
        "Encryption key of a Letta server, for `troupe var import`.")
      .also("LETTA_ENCRYPTION_KEY"),
  };
}

std::vector<setting_key> mcp() {
  return {
    row("mcp", "enabled", TROUPE_AT(mcp.enabled),
        "Serve the Model Context Protocol at /mcp."),
    row("mcp", "result-chars", TROUPE_AT(mcp.result_chars),
        "Characters of a tool's result, where the call does not say.")
      .between(1'000, 100'000),
    row("mcp", "max-calls", TROUPE_AT(mcp.max_calls),
        "Calls of one key at the same time; more are told to try again.")
      .between(1, 10'000),
    row("mcp", "max-streams", TROUPE_AT(mcp.max_streams),
        "Streams of one key that wait for changes at the same time.")
      .between(1, 1'000),
  };
}

std::vector<setting_key> telemetry() {
  return {
    row("telemetry", "metrics", TROUPE_AT(telemetry.metrics),
        "Serve /metrics in the Prometheus text format."),
    row("telemetry", "metrics-without-key",
        TROUPE_AT(telemetry.metrics_without_key),
        "Serve /metrics and the details of /readyz without an API key beyond "
        "loopback, too."),
    row("telemetry", "otlp-endpoint", TROUPE_AT(telemetry.otlp_endpoint),
        "OTLP/HTTP endpoint for traces; empty: traces are off.")
      .form(text_form::url)
      .also("OTEL_EXPORTER_OTLP_ENDPOINT")
      .also("LETTA_OTEL_EXPORTER_OTLP_ENDPOINT"),
    row("telemetry", "otlp-headers", TROUPE_AT(telemetry.otlp_headers),
        "Headers sent to it, as name=value,name=value.")
      .also("OTEL_EXPORTER_OTLP_HEADERS"),
    row("telemetry", "trace-sample-ratio",
        TROUPE_AT(telemetry.trace_sample_ratio),
        "Share of traces that are sent, from 0 to 1.")
      .between(0, 1),
  };
}

std::vector<setting_key> cluster() {
  return {
    row("cluster", "name", TROUPE_AT(cluster.name), "Name of this node."),
    row("cluster", "listen", TROUPE_AT(cluster.listen),
        "Address to accept other nodes on; never expose it to the internet.")
      .form(text_form::address),
    row("cluster", "seeds", TROUPE_AT(cluster.seeds),
        "Nodes that runs of backend peer are sent to, each host:port.")
      .form(text_form::address),
    row("cluster", "certificate", TROUPE_AT(cluster.certificate),
        "PEM file with the certificate of this node.")
      .form(text_form::path),
    row("cluster", "key", TROUPE_AT(cluster.key),
        "PEM file with the private key of the certificate.")
      .form(text_form::path),
    row("cluster", "ca", TROUPE_AT(cluster.ca),
        "PEM file with the CA that signs the certificates of all nodes.")
      .form(text_form::path),
    row("cluster", "heartbeat", TROUPE_AT(cluster.heartbeat),
        "How often links show the other side that this node is alive.")
      .between(100ms, 1min),
    row("cluster", "node-timeout", TROUPE_AT(cluster.node_timeout),
        "A node that is silent for this long counts as lost, with its runs; at "
        "least twice the heartbeat of every node.")
      .between(1s, 10min),
  };
}

} // namespace

std::vector<setting_key> back() {
  std::vector<setting_key> all;
  for (auto part : {storage(), compat(), mcp(), telemetry(), cluster()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
