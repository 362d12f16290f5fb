// local, dispatch, idempotency
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::vector<setting_key> local_runs() {
  return {
    row("local", "enabled", TROUPE_AT(local.enabled),
        "Run tools on this machine at all."),
    row("local", "concurrency", TROUPE_AT(local.concurrency),
        "Runs at the same time; 0 follows the number of cores.")
      .between(0, 100'000),
    row("local", "queue", TROUPE_AT(local.queue),
        "Runs that wait for a free slot; then callers get 429.")
      .between(0, 1'000'000),
    row("local", "isolation", TROUPE_AT(local.isolation),
        "How much a run insists on; best-effort and off are for trusted code.")
      .one_of("strict|standard|best-effort|off"),
    row("local", "network", TROUPE_AT(local.network),
        "The widest network a run may have; public excludes private ranges.")
      .one_of("off|public|allow"),
    row("local", "network-allow", TROUPE_AT(local.network_allow),
        "Hosts for network allow: host, host:port, *.domain or a CIDR."),
    row("local", "preload", TROUPE_AT(local.preload),
        "Python modules that warm interpreters have imported already."),
    row("local", "zygotes", TROUPE_AT(local.zygotes),
        "Warm interpreters per environment; 0 means one per core.")
      .between(0, 256),
    row("local", "python", TROUPE_AT(local.python),
        "The Python interpreter, by name or by path.")
      .form(text_form::path),
    row("local", "node", TROUPE_AT(local.node),
        "The Node.js interpreter, by name or by path.")
      .form(text_form::path),
    row("local", "cgroup-root", TROUPE_AT(local.cgroup_root),
        "A cgroup that we may divide; empty: our own, when it is delegated.")
      .form(text_form::path),
  };
}

std::vector<setting_key> local_environments() {
  return {
    row("local", "environment-cache", TROUPE_AT(local.environment_cache),
        "Disk for built environments; the least recently used ones go.")
      .between(64 * MiB, 16 * TiB),
    row("local", "environments", TROUPE_AT(local.environments),
        "How many built environments are kept.")
      .between(1, 100'000),
    row("local", "environment-build-timeout",
        TROUPE_AT(local.environment_build_timeout),
        "Time for installing the requirements of a tool.")
      .between(1s, 6h),
    row("local", "pass-environment", TROUPE_AT(local.pass_environment),
        "Our own variables that every local run gets, by name."),
    row("local", "sandbox-dir", TROUPE_AT(local.sandbox_dir),
        "The sandbox_dir of a local sandbox config that names none.")
      .form(text_form::path)
      .also("TOOL_EXEC_DIR")
      .also("LETTA_TOOL_EXECUTION_DIR")
      .also("LETTA_TOOL_SANDBOX_DIR"),
    row("local", "venv-name", TROUPE_AT(local.venv_name),
        "When set, the default local config uses a venv of this name.")
      .also("TOOL_EXEC_VENV_NAME")
      .also("LETTA_TOOL_SANDBOX_VENV_NAME"),
    row("local", "venv-autoreload", TROUPE_AT(local.venv_autoreload),
        "Prepare that venv at start instead of at its first run.")
      .also("TOOL_EXEC_AUTORELOAD_VENV"),
  };
}

std::vector<setting_key> dispatch() {
  return {
    row("dispatch", "max-in-flight", TROUPE_AT(dispatch.max_in_flight),
        "Runs in flight, everybody together; then callers get 429.")
      .between(1, 1'000'000),
    row("dispatch", "max-per-organization",
        TROUPE_AT(dispatch.max_per_organization),
        "Runs in flight of one organization.")
      .between(1, 1'000'000),
    row("dispatch", "max-per-backend", TROUPE_AT(dispatch.max_per_backend),
        "Runs in flight on one backend.")
      .between(1, 1'000'000),
    row("dispatch", "queue", TROUPE_AT(dispatch.queue),
        "Runs that wait for their turn.")
      .between(0, 1'000'000),
    row("dispatch", "queue-timeout", TROUPE_AT(dispatch.queue_timeout),
        "How long a run may wait for its turn.")
      .between(0ms, 1h),
    row("dispatch", "attempts", TROUPE_AT(dispatch.attempts),
        "Tries of one run, the first included, while it cannot have begun.")
      .between(1, 10),
    row("dispatch", "retry-base", TROUPE_AT(dispatch.retry_base),
        "First pause before another try; it doubles, with jitter.")
      .between(1ms, 1min),
    row("dispatch", "retry-cap", TROUPE_AT(dispatch.retry_cap),
        "The longest pause before another try.")
      .between(1ms, 10min),
    row("dispatch", "breaker-failures", TROUPE_AT(dispatch.breaker_failures),
        "Failures in a row after which a backend rests.")
      .between(1, 1'000),
    row("dispatch", "breaker-rest", TROUPE_AT(dispatch.breaker_rest),
        "How long it rests before it is tried again.")
      .between(100ms, 1h),
    row("dispatch", "fallback", TROUPE_AT(dispatch.fallback),
        "auto may go from Modal to E2B to local; none stays where it is.")
      .one_of("auto|none"),
  };
}

std::vector<setting_key> idempotency() {
  return {
    row("idempotency", "keep", TROUPE_AT(idempotency.keep),
        "How long an Idempotency-Key is remembered.")
      .between(1min, 720h),
    row("idempotency", "max-keys", TROUPE_AT(idempotency.max_keys),
        "How many are remembered; the oldest go first.")
      .between(100, 100'000'000),
  };
}

} // namespace

std::vector<setting_key> work() {
  std::vector<setting_key> all;
  for (auto part :
       {local_runs(), local_environments(), dispatch(), idempotency()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
