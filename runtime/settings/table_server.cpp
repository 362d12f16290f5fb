// engine, http, log, limits
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::vector<setting_key> engine() {
  return {
    row("engine", "data-dir", TROUPE_AT(engine.data_dir),
        "Folder for everything that is kept; created with mode 0700. One that "
        "is found open to others is closed, or, where more than ours lies in "
        "it, told in a warning.")
      .form(text_form::path),
    row("engine", "threads", TROUPE_AT(engine.threads),
        "Threads that run actors; 0 means one per two cores.")
      .between(0, 256),
    row("engine", "io-threads", TROUPE_AT(engine.io_threads),
        "Threads that serve sockets; 0 means one per core. A single one is "
        "that of the local runs; so it is by default on two cores.")
      .between(0, 256),
    row("engine", "drain-timeout", TROUPE_AT(engine.drain_timeout),
        "How long a stopping engine waits for the runs it has begun.")
      .between(0ms, 1h),
  };
}

std::vector<setting_key> watchdog() {
  return {
    row("watchdog", "warn-after", TROUPE_AT(watchdog.warn_after),
        "Time after which the log is told of a thread that serves sockets and "
        "has not turned.")
      .between(100ms, 1h),
    row("watchdog", "end-after", TROUPE_AT(watchdog.end_after),
        "Time after which the process ends (exit code 70) because of such a "
        "thread, to be started again; 0 means never.")
      .between(0ms, 24h),
  };
}

std::vector<setting_key> http() {
  return {
    row("http", "listen", TROUPE_AT(http.listen),
        "Address to serve; anything but loopback needs API keys.")
      .form(text_form::address),
    row("http", "require-key", TROUPE_AT(http.require_key),
        "Ask for an API key on loopback as well."),
    row("http", "allowed-hosts", TROUPE_AT(http.allowed_hosts),
        "Host names that clients may use for us, beside our own address.")
      .form(text_form::host),
    row(
      "http", "max-connections", TROUPE_AT(http.max_connections),
      "Open connections; further ones push idle ones out, or are answered 503.")
      .between(1, 1'000'000),
    row("http", "max-per-address", TROUPE_AT(http.max_per_address),
        "Open connections from one address; 0 means no bound.")
      .between(0, 1'000'000),
    row("http", "max-in-flight", TROUPE_AT(http.max_in_flight),
        "Requests that wait for an answer; then clients get 503.")
      .between(1, 1'000'000),
    row("http", "max-header", TROUPE_AT(http.max_header),
        "Largest request header.")
      .between(1 * KiB, 1 * MiB),
    row("http", "max-body", TROUPE_AT(http.max_body), "Largest request body.")
      .between(1 * KiB, 1 * GiB),
    row("http", "header-timeout", TROUPE_AT(http.header_timeout),
        "Time for a complete request header.")
      .between(100ms, 10min),
    row("http", "body-timeout", TROUPE_AT(http.body_timeout),
        "Time for a complete request body, plus a second per 16 KiB.")
      .between(100ms, 1h),
    row("http", "idle-timeout", TROUPE_AT(http.idle_timeout),
        "How long a kept-alive connection may be silent.")
      .between(100ms, 1h),
    row("http", "write-timeout", TROUPE_AT(http.write_timeout),
        "How long a client may refuse to read its answer.")
      .between(100ms, 1h),
    row("http", "tls-certificate", TROUPE_AT(http.tls_certificate),
        "PEM file with the certificate chain; with tls-key it means HTTPS.")
      .form(text_form::path),
    row("http", "tls-key", TROUPE_AT(http.tls_key),
        "PEM file with the private key of tls-certificate.")
      .form(text_form::path),
    row("http", "tls-client-authority", TROUPE_AT(http.tls_client_authority),
        "PEM file; when set, clients need a certificate that it signed.")
      .form(text_form::path),
  };
}

std::vector<setting_key> log() {
  return {
    row("log", "level", TROUPE_AT(log.level), "The least that is written.")
      .one_of("debug|info|warning|error|off"),
    row("log", "format", TROUPE_AT(log.format),
        "auto is text on a terminal and one JSON object per line elsewhere.")
      .one_of("auto|text|json"),
    row("log", "access", TROUPE_AT(log.access),
        "A line for every answered request; auto is on where the log is JSON.")
      .one_of("auto|on|off"),
    row("log", "queue", TROUPE_AT(log.queue),
        "Lines that wait for a slow reader; then the oldest are dropped.")
      .between(16, 1'000'000),
  };
}

std::vector<setting_key> standard_limits() {
  return {
    row("limits", "wall", TROUPE_AT(limits.standard.wall),
        "Time from start to end.")
      .between(1ms, 24h)
      .also_in_seconds("TOOL_SANDBOX_TIMEOUT")
      .also_in_seconds("LETTA_TOOL_SANDBOX_TIMEOUT"),
    row("limits", "cpu", TROUPE_AT(limits.standard.cpu),
        "Processor time of all threads and children together.")
      .between(1ms, 240h),
    row("limits", "memory", TROUPE_AT(limits.standard.memory_bytes),
        "Memory of all its processes, files in its /tmp included.")
      .between(16 * MiB, 16 * TiB),
    row("limits", "processes", TROUPE_AT(limits.standard.processes),
        "Processes and threads at the same time.")
      .between(1, 4'194'304)
      .count(),
    row("limits", "open-files", TROUPE_AT(limits.standard.open_files),
        "Open descriptors of one process.")
      .between(16, 1'048'576)
      .count(),
    row("limits", "disk", TROUPE_AT(limits.standard.disk_bytes),
        "Size of its private /tmp.")
      .between(1 * MiB, 16 * TiB),
    row("limits", "inodes", TROUPE_AT(limits.standard.inodes),
        "Files in its private /tmp.")
      .between(64, 100'000'000)
      .count(),
    row("limits", "output", TROUPE_AT(limits.standard.output_bytes),
        "Kept of standard output and of standard error, each.")
      .between(1 * KiB, 1 * GiB),
    row("limits", "on-output", TROUPE_AT(limits.on_output),
        "What becomes of a local run that prints more: its output is cut, or "
        "it ends.")
      .one_of("cut|end"),
    row("limits", "result", TROUPE_AT(limits.standard.result_bytes),
        "The JSON of the return value.")
      .between(1 * KiB, 1 * GiB),
  };
}

std::vector<setting_key> ceilings() {
  return {
    row("limits", "ceiling-wall", TROUPE_AT(limits.ceiling.wall),
        "The longest wall time that a caller may ask for.")
      .between(1ms, 24h),
    row("limits", "ceiling-cpu", TROUPE_AT(limits.ceiling.cpu),
        "The most processor time that a caller may ask for.")
      .between(1ms, 240h),
    row("limits", "ceiling-memory", TROUPE_AT(limits.ceiling.memory_bytes),
        "The most memory that a caller may ask for.")
      .between(16 * MiB, 16 * TiB),
    row("limits", "ceiling-processes", TROUPE_AT(limits.ceiling.processes),
        "The most processes that a caller may ask for.")
      .between(1, 4'194'304)
      .count(),
    row("limits", "ceiling-open-files", TROUPE_AT(limits.ceiling.open_files),
        "The most descriptors that a caller may ask for.")
      .between(16, 1'048'576)
      .count(),
    row("limits", "ceiling-disk", TROUPE_AT(limits.ceiling.disk_bytes),
        "The largest private /tmp that a caller may ask for.")
      .between(1 * MiB, 16 * TiB),
    row("limits", "ceiling-inodes", TROUPE_AT(limits.ceiling.inodes),
        "The most files that a caller may ask for.")
      .between(64, 100'000'000)
      .count(),
    row("limits", "ceiling-output", TROUPE_AT(limits.ceiling.output_bytes),
        "The most output that a caller may ask for.")
      .between(1 * KiB, 1 * GiB),
    row("limits", "ceiling-result", TROUPE_AT(limits.ceiling.result_bytes),
        "The largest result that a caller may ask for.")
      .between(1 * KiB, 1 * GiB),
  };
}

} // namespace

std::vector<setting_key> front() {
  std::vector<setting_key> all;
  for (auto part :
       {engine(), watchdog(), http(), log(), standard_limits(), ceilings()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
