// local, dispatch, sandbox, idempotency
#include "runtime/model/warm_optimizations.hpp"
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::string_view help_of_tricks() {
  static const auto help
    = "Performance optimizations to switch off: " + names_of({}, ", ") + ".";
  return help;
}

std::vector<setting_key> local_runs() {
  return {
    row("local", "enabled", TROUPE_AT(local.enabled),
        "Run tools on this machine."),
    row("local", "runtime-dir", TROUPE_AT(local.runtime_dir),
        "Directory for files that are needed only while the engine runs; "
        "empty: a private one.")
      .form(text_form::path),
    row("local", "max-running", TROUPE_AT(local.max_running),
        "Maximum number of local runs at a time.")
      .between(1, 100'000),
    row("local", "max-queued", TROUPE_AT(local.max_queued),
        "Maximum number of queued local runs; beyond it callers get 429.")
      .between(0, 1'000'000),
    row("local", "isolation", TROUPE_AT(local.isolation),
        "Isolation that a run requires; use best-effort and off for trusted "
        "code only.")
      .one_of("strict|standard|best-effort|off"),
    row(
      "local", "network", TROUPE_AT(local.network),
      "Widest network access of a run; public excludes private address ranges.")
      .one_of("off|public|allow"),
    row("local", "network-allow", TROUPE_AT(local.network_allow),
        "Hosts that runs may reach if network is allow: host, host:port, "
        "*.domain or CIDR.")
      .form(text_form::host_rule),
    row("local", "warm-python", TROUPE_AT(local.warm_python),
        "Fork Python runs from warm interpreters."),
    row("local", "preload", TROUPE_AT(local.preload),
        "Modules imported in warm Python interpreters; empty: the set that "
        "Letta preloads."),
    row("local", "warm-slots", TROUPE_AT(local.warm_slots),
        "Maximum number of warm slots; further runs start cold.")
      .between(1, 100'000),
    row("local", "warm-node", TROUPE_AT(local.warm_node),
        "Fork TypeScript and JavaScript runs from a warm Node.js."),
    row("local", "prestarted-node", TROUPE_AT(local.prestarted_node),
        "Node.js processes kept started for the next run where Node.js cannot "
        "be forked.")
      .between(0, 1'000),
    row("local", "disabled-optimizations",
        TROUPE_AT(local.disabled_optimizations), help_of_tricks()),
    row("local", "python", TROUPE_AT(local.python),
        "Python interpreter; empty: searched in the usual places.")
      .form(text_form::path),
    row("local", "node", TROUPE_AT(local.node),
        "Node.js interpreter; empty: searched in the usual places.")
      .form(text_form::path),
    row("local", "read-only-paths", TROUPE_AT(local.read_only_paths),
        "Additional directories of this machine that every run can read."),
  };
}

std::vector<setting_key> local_environments() {
  return {
    row("local", "package-cache", TROUPE_AT(local.package_cache),
        "Disk space for installed package sets; the least recently used ones "
        "are evicted.")
      .between(64 * MiB, 16 * TiB),
    row("local", "package-build-timeout",
        TROUPE_AT(local.package_build_timeout),
        "Time to install the packages of a tool.")
      .between(1s, 6h),
    row("local", "package-build-disk", TROUPE_AT(local.package_build_disk),
        "Disk space that the packages of one tool may use.")
      .between(1 * MiB, 16 * TiB),
    row("local", "max-package-builds", TROUPE_AT(local.max_package_builds),
        "Maximum number of installations at a time; others wait.")
      .between(1, 256),
    row("local", "pip-index", TROUPE_AT(local.pip_index),
        "Package index URL for pip, which may be a private mirror; empty: "
        "pip's default.")
      .form(text_form::url),
    row("local", "npm-registry", TROUPE_AT(local.npm_registry),
        "Registry URL for npm, which may be a private mirror; empty: npm's "
        "default.")
      .form(text_form::url),
    row(
      "local", "source-builds", TROUPE_AT(local.source_builds),
      "Allow building packages from source; this runs the package's own code."),
    row("local", "pass-environment", TROUPE_AT(local.pass_environment),
        "Names of environment variables of the engine that are passed to every "
        "local run.")
      .form(text_form::variable),
    row("local", "sandbox-dir", TROUPE_AT(local.sandbox_dir),
        "Default sandbox_dir of local sandbox configs; if set, runs see it "
        "read-only.")
      .form(text_form::path)
      .also("TOOL_EXEC_DIR")
      .also("LETTA_TOOL_EXECUTION_DIR")
      .also("LETTA_TOOL_SANDBOX_DIR"),
    row("local", "shared-dirs", TROUPE_AT(local.shared_dirs),
        "Directories below which a sandbox_dir may lie; runs with any other "
        "are refused."),
    row("local", "writable-dirs", TROUPE_AT(local.writable_dirs),
        "Directories below which runs may write: each organization in the "
        "subdirectory named like its id, the default organization in any "
        "other."),
    row("local", "venv-name", TROUPE_AT(local.venv_name),
        "Name of the venv that the default local config uses; empty: none.")
      .also("TOOL_EXEC_VENV_NAME")
      .also("LETTA_TOOL_SANDBOX_VENV_NAME"),
    row("local", "venv-autoreload", TROUPE_AT(local.venv_autoreload),
        "Accepted for compatibility with Letta and without effect: package "
        "sets are always built on demand.")
      .also("TOOL_EXEC_AUTORELOAD_VENV"),
  };
}

std::vector<setting_key> dispatch() {
  return {
    row("dispatch", "default-backend", TROUPE_AT(dispatch.default_backend),
        "Backend of runs that do not name one; ignored unless that backend is "
        "configured.")
      .also("SANDBOX_PROVIDER"),
    row("dispatch", "fail-closed", TROUPE_AT(dispatch.fail_closed),
        "If e2b, modal, daytona or aio is asked for but unavailable, refuse "
        "the run (503) instead of running it on this machine or a peer."),
    row("dispatch", "max-running", TROUPE_AT(dispatch.max_running),
        "Maximum number of runs at a time.")
      .between(1, 1'000'000),
    row("dispatch", "max-running-per-organization",
        TROUPE_AT(dispatch.max_running_per_organization),
        "Maximum number of runs at a time per organization.")
      .between(1, 1'000'000),
    row("dispatch", "max-running-per-backend",
        TROUPE_AT(dispatch.max_running_per_backend),
        "Maximum number of runs at a time per backend.")
      .between(1, 1'000'000),
    row("dispatch", "max-queued", TROUPE_AT(dispatch.max_queued),
        "Maximum number of queued runs; beyond it callers get 429.")
      .between(0, 1'000'000),
    row("dispatch", "max-queued-per-organization",
        TROUPE_AT(dispatch.max_queued_per_organization),
        "Maximum number of queued runs per organization.")
      .between(0, 1'000'000),
    row("dispatch", "prepare-timeout", TROUPE_AT(dispatch.prepare_timeout),
        "Time for queueing and preparation that a run gets in addition to its "
        "wall limit.")
      .between(1s, 6h),
    row("dispatch", "breaker-failures", TROUPE_AT(dispatch.breaker_failures),
        "Consecutive failures that open the circuit breaker of a backend.")
      .between(1, 1'000),
    row("dispatch", "breaker-pause", TROUPE_AT(dispatch.breaker_pause),
        "Time that an open circuit breaker waits before its first probe; "
        "doubles after each failed probe.")
      .between(100ms, 1h),
    row("dispatch", "breaker-max-pause", TROUPE_AT(dispatch.breaker_max_pause),
        "Longest time between two probes of an open circuit breaker.")
      .between(100ms, 1h),
    row("dispatch", "reconcile-interval",
        TROUPE_AT(dispatch.reconcile_interval),
        "Interval between two searches for orphaned sandboxes at providers.")
      .between(1s, 24h),
  };
}

std::vector<setting_key> living_sandboxes() {
  return {
    row("sandbox", "max", TROUPE_AT(sandbox.max),
        "Sandboxes that live at the same time, of all organizations.")
      .between(1, 10'000),
    row("sandbox", "max-per-organization",
        TROUPE_AT(sandbox.max_per_organization),
        "Sandboxes of one organization that live at the same time.")
      .between(1, 10'000),
    row("sandbox", "starting", TROUPE_AT(sandbox.starting),
        "Sandboxes that are made at the same time; 0: two per core.")
      .between(0, 1'000),
    row("sandbox", "queue", TROUPE_AT(sandbox.queue),
        "Sandboxes that wait to be made; then callers get 429.")
      .between(0, 100'000),
    row("sandbox", "queue-per-organization",
        TROUPE_AT(sandbox.queue_per_organization),
        "Of these, how many may be of one organization; then it gets 429.")
      .between(0, 100'000),
    row("sandbox", "queue-timeout", TROUPE_AT(sandbox.queue_timeout),
        "How long one waits before its caller gets 429.")
      .between(100ms, 1h),
    row("sandbox", "timeout", TROUPE_AT(sandbox.timeout),
        "The life of a sandbox that does not say, unless it is renewed.")
      .between(1s, 24h),
    row("sandbox", "max-life", TROUPE_AT(sandbox.max_life),
        "The longest life that can be asked for, also by a renewal.")
      .between(1s, 24h),
    row("sandbox", "session-idle-timeout",
        TROUPE_AT(sandbox.session_idle_timeout),
        "A session's sandbox that does not say ends when nothing has used it "
        "for so long.")
      .between(1s, 24h),
    row("sandbox", "paused-for", TROUPE_AT(sandbox.paused_for),
        "One that is paused keeps its memory for so long; then it ends.")
      .between(1s, 24h),
    row("sandbox", "snapshots", TROUPE_AT(sandbox.snapshots),
        "Snapshots of one organization.")
      .between(0, 10'000),
    row("sandbox", "snapshot-bytes", TROUPE_AT(sandbox.snapshot_bytes),
        "Of all snapshots of sandboxes of this machine and of what was made "
        "from them, together; they lie in memory.")
      .between(1 << 20, 1ll << 40),
    row("sandbox", "processes", TROUPE_AT(sandbox.processes),
        "Processes of one sandbox that run at the same time.")
      .between(1, 4'096),
    row("sandbox", "cpus", TROUPE_AT(sandbox.cpus),
        "Processors that one sandbox of this machine may use at a time, where "
        "the host's cgroups have quotas; 0: all there are.")
      .between(0, 4'096),
    row("sandbox", "connections", TROUPE_AT(sandbox.connections),
        "Connections to the outside that one sandbox of this machine may open "
        "at once; beyond that 100 a second. They take ports of the host.")
      .between(1, 8'192),
    row("sandbox", "prepared", TROUPE_AT(sandbox.prepared),
        "Empty sandboxes of this machine that are kept ready, once the first "
        "was asked for; they serve those that ask for no resources.")
      .between(0, 64),
    row("sandbox", "contexts", TROUPE_AT(sandbox.contexts),
        "Interpreters of one sandbox that keep their state between cells.")
      .between(1, 64),
    row("sandbox", "cell-queue", TROUPE_AT(sandbox.cell_queue),
        "Cells that wait for one interpreter; then callers get 429.")
      .between(1, 4'096),
    row("sandbox", "preview-listen", TROUPE_AT(sandbox.preview_listen),
        "Address of a listener that shows the ports of sandboxes by host name, "
        "PORT-ID.preview-domain, such as 127.0.0.1:8284; empty: by path only."),
    row("sandbox", "preview-domain", TROUPE_AT(sandbox.preview_domain),
        "What those host names end with. Browsers look for everything below "
        "localhost on their own machine.")
      .form(text_form::host),
    row("sandbox", "public-ports", TROUPE_AT(sandbox.public_ports),
        "Let callers open ports of their sandboxes to all, without a token."),
  };
}

std::vector<setting_key> idempotency() {
  return {
    row("idempotency", "ttl", TROUPE_AT(idempotency.ttl),
        "Time that an Idempotency-Key is remembered.")
      .between(1h, 720h),
    row("idempotency", "max-keys", TROUPE_AT(idempotency.max_keys),
        "Maximum number of keys remembered per organization.")
      .between(100, 100'000'000),
  };
}

} // namespace

std::vector<setting_key> work() {
  std::vector<setting_key> all;
  for (auto part : {local_runs(), local_environments(), dispatch(),
                    living_sandboxes(), idempotency()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
