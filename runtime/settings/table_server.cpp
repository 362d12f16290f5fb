// engine, http, log, limits
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::vector<setting_key> engine() {
  return {
    row("engine", "data-dir", TROUPE_AT(engine.data_dir),
        "Directory for all persistent data, created with mode 0700. If an "
        "existing one is open to other users, it is closed, or a warning is "
        "logged when it also holds files of others.")
      .form(text_form::path),
    row("engine", "threads", TROUPE_AT(engine.threads),
        "Threads that run actors; 0: one per two cores.")
      .between(0, 256),
    row("engine", "io-threads", TROUPE_AT(engine.io_threads),
        "Threads that serve sockets; 0: one per core. A single io thread, the "
        "default on two cores, also serves local runs.")
      .between(0, 256),
    row("engine", "drain-timeout", TROUPE_AT(engine.drain_timeout),
        "Time that runs get to finish when the engine is stopped.")
      .between(0ms, 1h),
  };
}

std::vector<setting_key> watchdog() {
  return {
    row("watchdog", "warn-after", TROUPE_AT(watchdog.warn_after),
        "Log a warning when an io thread has been stuck for this long.")
      .between(100ms, 1h),
    row("watchdog", "exit-after", TROUPE_AT(watchdog.exit_after),
        "Exit (code 70), for the service manager to restart the engine, when "
        "an io thread has been stuck for this long; 0: never.")
      .between(0ms, 24h),
  };
}

std::vector<setting_key> http() {
  return {
    row("http", "listen", TROUPE_AT(http.listen),
        "Address to listen on; any address but loopback requires API keys.")
      .form(text_form::address),
    row("http", "require-key", TROUPE_AT(http.require_key),
        "Require an API key on loopback as well."),
    row("http", "allowed-hosts", TROUPE_AT(http.allowed_hosts),
        "Host names that clients may use for this server, in addition to its "
        "own address.")
      .form(text_form::host),
    row("http", "max-connections", TROUPE_AT(http.max_connections),
        "Maximum number of connections; beyond it idle ones are closed, or new "
        "ones get 503.")
      .between(1, 1'000'000),
    row("http", "max-connections-per-address",
        TROUPE_AT(http.max_connections_per_address),
        "Maximum number of connections per client address; 0: no limit.")
      .between(0, 1'000'000),
    row("http", "max-in-flight", TROUPE_AT(http.max_in_flight),
        "Maximum number of requests in progress; beyond it clients get 503.")
      .between(1, 1'000'000),
    row("http", "max-header", TROUPE_AT(http.max_header),
        "Maximum size of a request header.")
      .between(1 * KiB, 1 * MiB),
    row("http", "max-body", TROUPE_AT(http.max_body),
        "Maximum size of a request body.")
      .between(1 * KiB, 1 * GiB),
    row("http", "header-timeout", TROUPE_AT(http.header_timeout),
        "Time to receive a complete request header.")
      .between(100ms, 10min),
    row("http", "body-timeout", TROUPE_AT(http.body_timeout),
        "Time to receive a complete request body, plus one second per 16 KiB.")
      .between(100ms, 1h),
    row("http", "idle-timeout", TROUPE_AT(http.idle_timeout),
        "Time after which an idle keep-alive connection is closed.")
      .between(100ms, 1h),
    row("http", "write-timeout", TROUPE_AT(http.write_timeout),
        "Time after which a connection is closed whose client reads nothing of "
        "its response.")
      .between(100ms, 1h),
    row("http", "tls-certificate", TROUPE_AT(http.tls_certificate),
        "PEM file with the certificate chain; together with tls-key it enables "
        "HTTPS.")
      .form(text_form::path),
    row("http", "tls-key", TROUPE_AT(http.tls_key),
        "PEM file with the private key of tls-certificate.")
      .form(text_form::path),
    row("http", "tls-client-ca", TROUPE_AT(http.tls_client_ca),
        "PEM file with a CA; if set, clients need a certificate signed by it.")
      .form(text_form::path),
  };
}

std::vector<setting_key> log() {
  return {
    row("log", "level", TROUPE_AT(log.level), "Lowest level that is logged.")
      .one_of("debug|info|warning|error|off"),
    row("log", "format", TROUPE_AT(log.format),
        "auto: text on a terminal, otherwise one JSON object per line.")
      .one_of("auto|text|json"),
    row("log", "access", TROUPE_AT(log.access),
        "Log one line per HTTP request; auto: only if the log is JSON.")
      .one_of("auto|on|off"),
    row("log", "queue", TROUPE_AT(log.queue),
        "Log lines buffered for a slow reader; beyond that the oldest are "
        "dropped.")
      .between(16, 1'000'000),
  };
}

std::vector<setting_key> standard_limits() {
  return {
    row("limits", "wall", TROUPE_AT(limits.standard.wall), "Wall-clock time.")
      .between(1ms, 24h)
      .also_in_seconds("TOOL_SANDBOX_TIMEOUT")
      .also_in_seconds("LETTA_TOOL_SANDBOX_TIMEOUT"),
    row("limits", "cpu", TROUPE_AT(limits.standard.cpu),
        "CPU time of all threads and child processes together.")
      .between(1ms, 240h),
    row("limits", "memory", TROUPE_AT(limits.standard.memory_bytes),
        "Memory of all processes, including files in the private /tmp.")
      .between(16 * MiB, 16 * TiB),
    row("limits", "processes", TROUPE_AT(limits.standard.processes),
        "Number of processes and threads.")
      .between(1, 4'194'304)
      .count(),
    row("limits", "open-files", TROUPE_AT(limits.standard.open_files),
        "Open file descriptors per process.")
      .between(16, 1'048'576)
      .count(),
    row("limits", "disk", TROUPE_AT(limits.standard.disk_bytes),
        "Size of the private /tmp.")
      .between(1 * MiB, 16 * TiB),
    row("limits", "inodes", TROUPE_AT(limits.standard.inodes),
        "Number of files in the private /tmp.")
      .between(64, 100'000'000)
      .count(),
    row("limits", "output", TROUPE_AT(limits.standard.output_bytes),
        "Bytes kept of stdout and of stderr, each.")
      .between(1 * KiB, 1 * GiB),
    row("limits", "on-output-limit", TROUPE_AT(limits.on_output_limit),
        "What happens to a local run that writes more: truncate its output, or "
        "kill it.")
      .one_of("truncate|kill"),
    row("limits", "result", TROUPE_AT(limits.standard.result_bytes),
        "Size of the return value as JSON.")
      .between(1 * KiB, 1 * GiB),
  };
}

std::vector<setting_key> ceilings() {
  return {
    row("limits", "max-wall", TROUPE_AT(limits.ceiling.wall),
        "Highest wall-clock time that a request may ask for.")
      .between(1ms, 24h),
    row("limits", "max-cpu", TROUPE_AT(limits.ceiling.cpu),
        "Highest CPU time that a request may ask for.")
      .between(1ms, 240h),
    row("limits", "max-memory", TROUPE_AT(limits.ceiling.memory_bytes),
        "Highest memory that a request may ask for.")
      .between(16 * MiB, 16 * TiB),
    row("limits", "max-processes", TROUPE_AT(limits.ceiling.processes),
        "Highest number of processes that a request may ask for.")
      .between(1, 4'194'304)
      .count(),
    row("limits", "max-open-files", TROUPE_AT(limits.ceiling.open_files),
        "Highest number of file descriptors that a request may ask for.")
      .between(16, 1'048'576)
      .count(),
    row("limits", "max-disk", TROUPE_AT(limits.ceiling.disk_bytes),
        "Highest size of /tmp that a request may ask for.")
      .between(1 * MiB, 16 * TiB),
    row("limits", "max-inodes", TROUPE_AT(limits.ceiling.inodes),
        "Highest number of files in /tmp that a request may ask for.")
      .between(64, 100'000'000)
      .count(),
    row("limits", "max-output", TROUPE_AT(limits.ceiling.output_bytes),
        "Highest output size that a request may ask for.")
      .between(1 * KiB, 1 * GiB),
    row("limits", "max-result", TROUPE_AT(limits.ceiling.result_bytes),
        "Highest result size that a request may ask for.")
      .between(1 * KiB, 1 * GiB),
  };
}

std::vector<setting_key> files() {
  return {
    row("files", "count", TROUPE_AT(files.bounds.count),
        "Maximum number of files that a run takes in, and that it gives back.")
      .between(1, 10'000)
      .count(),
    row("files", "bytes-in", TROUPE_AT(files.bounds.bytes_in),
        "Maximum size of the files of a request together; http.max-body bounds "
        "them too.")
      .between(1 * KiB, 1 * GiB),
    row("files", "bytes-out", TROUPE_AT(files.bounds.bytes_out),
        "Maximum size of the files that a run gives back together; they are "
        "held in memory until the answer.")
      .between(1 * KiB, 1 * GiB),
    row("files", "inline", TROUPE_AT(files.inline_bytes),
        "Maximum size of a file inside of an answer (all of them: four times "
        "that); larger ones are fetched by their URL.")
      .between(1 * KiB, 64 * MiB),
    row("files", "kept", TROUPE_AT(files.kept_bytes),
        "Maximum size of all files that wait to be fetched, in memory; beyond "
        "it the oldest are dropped.")
      .between(1 * KiB, 64 * GiB),
    row("files", "keep", TROUPE_AT(files.keep), "How long they wait.")
      .between(1s, 24h),
  };
}

} // namespace

std::vector<setting_key> front() {
  std::vector<setting_key> all;
  for (auto part : {engine(), watchdog(), http(), log(), standard_limits(),
                    ceilings(), files()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
