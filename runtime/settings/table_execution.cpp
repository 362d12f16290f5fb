// local, dispatch, idempotency
#include "runtime/model/warm_optimizations.hpp"
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

std::string_view help_of_tricks() {
  static const auto help
    = "Of " + names_of({}, ", ") + ": tricks to leave out.";
  return help;
}

std::vector<setting_key> local_runs() {
  return {
    row("local", "enabled", TROUPE_AT(local.enabled),
        "Run tools on this machine at all."),
    row("local", "state-dir", TROUPE_AT(local.state_dir),
        "Folder for what lives as long as the engine; empty: a private one.")
      .form(text_form::path),
    row("local", "concurrency", TROUPE_AT(local.concurrency),
        "Runs at the same time.")
      .between(1, 100'000),
    row("local", "queue", TROUPE_AT(local.queue),
        "Runs that wait for a free place; then callers get 429.")
      .between(0, 1'000'000),
    row("local", "isolation", TROUPE_AT(local.isolation),
        "How much a run insists on; best-effort and off are for trusted code.")
      .one_of("strict|standard|best-effort|off"),
    row("local", "network", TROUPE_AT(local.network),
        "The widest network a run may have; public excludes private ranges.")
      .one_of("off|public|allow"),
    row("local", "network-allow", TROUPE_AT(local.network_allow),
        "Hosts for network allow: host, host:port, *.domain or a CIDR.")
      .form(text_form::host_rule),
    row("local", "warm", TROUPE_AT(local.warm),
        "Fork Python runs out of warm interpreters."),
    row("local", "preload", TROUPE_AT(local.preload),
        "Modules that those have imported; empty: what Letta's tools found."),
    row("local", "warm-slots", TROUPE_AT(local.warm_slots),
        "Prepared places for such runs; further runs start cold.")
      .between(1, 100'000),
    row("local", "warm-node", TROUPE_AT(local.warm_node),
        "Fork TypeScript and JavaScript runs out of a warm Node as well."),
    row("local", "ready-node", TROUPE_AT(local.ready_node),
        "Node processes that wait for such runs where Node cannot be forked.")
      .between(0, 1'000),
    row("local", "without-tricks", TROUPE_AT(local.without_tricks),
        help_of_tricks()),
    row("local", "python", TROUPE_AT(local.python),
        "The Python interpreter; empty: the first of a few usual places.")
      .form(text_form::path),
    row("local", "node", TROUPE_AT(local.node),
        "The Node.js interpreter; empty: the first of a few usual places.")
      .form(text_form::path),
    row("local", "read-only-paths", TROUPE_AT(local.read_only_paths),
        "More folders of this machine that every run sees, read-only."),
  };
}

std::vector<setting_key> local_environments() {
  return {
    row("local", "environment-cache", TROUPE_AT(local.environment_cache),
        "Disk for built environments; the least recently used ones go.")
      .between(64 * MiB, 16 * TiB),
    row("local", "environment-build-timeout",
        TROUPE_AT(local.environment_build_timeout),
        "Time for installing the requirements of a tool.")
      .between(1s, 6h),
    row("local", "environment-build-disk",
        TROUPE_AT(local.environment_build_disk),
        "Bytes on disk that the requirements of one tool may take.")
      .between(1 * MiB, 16 * TiB),
    row("local", "environment-builds", TROUPE_AT(local.environment_builds),
        "Installations at a time; the others wait.")
      .between(1, 256),
    row("local", "package-index", TROUPE_AT(local.package_index),
        "Where pip looks, be it in the house; empty: where it always does.")
      .form(text_form::url),
    row("local", "npm-registry", TROUPE_AT(local.npm_registry),
        "Where npm looks, be it in the house; empty: where it always does.")
      .form(text_form::url),
    row("local", "source-builds", TROUPE_AT(local.source_builds),
        "Let an install run code of the package, where there is no wheel."),
    row("local", "pass-environment", TROUPE_AT(local.pass_environment),
        "Our own variables that every local run gets, by name.")
      .form(text_form::variable),
    row("local", "sandbox-dir", TROUPE_AT(local.sandbox_dir),
        "The sandbox_dir of a local sandbox config that names none; once set, "
        "runs see it, read-only.")
      .form(text_form::path)
      .also("TOOL_EXEC_DIR")
      .also("LETTA_TOOL_EXECUTION_DIR")
      .also("LETTA_TOOL_SANDBOX_DIR"),
    row("local", "shared-dirs", TROUPE_AT(local.shared_dirs),
        "Any other sandbox_dir must lie below one of these, or runs are "
        "refused."),
    row("local", "writable-dirs", TROUPE_AT(local.writable_dirs),
        "Below one of these runs may write, each organization in the directory "
        "that has its id for a name, and the default one in any other."),
    row("local", "venv-name", TROUPE_AT(local.venv_name),
        "When set, the default local config uses a venv of this name.")
      .also("TOOL_EXEC_VENV_NAME")
      .also("LETTA_TOOL_SANDBOX_VENV_NAME"),
    row("local", "venv-autoreload", TROUPE_AT(local.venv_autoreload),
        "Accepted for Letta's sake: environments are always built on demand.")
      .also("TOOL_EXEC_AUTORELOAD_VENV"),
  };
}

std::vector<setting_key> dispatch() {
  return {
    row("dispatch", "provider", TROUPE_AT(dispatch.provider),
        "Where runs go that do not say, when it is configured.")
      .one_of("e2b|daytona|modal|aio|peer|local")
      .also("SANDBOX_PROVIDER"),
    row("dispatch", "fail-closed", TROUPE_AT(dispatch.fail_closed),
        "Refuse a run (503) that is for e2b, modal, daytona or aio and finds "
        "none of them well, rather than run it on this machine or a peer."),
    row("dispatch", "max-in-flight", TROUPE_AT(dispatch.max_in_flight),
        "Runs at the same time, everybody together.")
      .between(1, 1'000'000),
    row("dispatch", "max-per-organization",
        TROUPE_AT(dispatch.max_per_organization),
        "Runs at the same time of one organization.")
      .between(1, 1'000'000),
    row("dispatch", "max-per-backend", TROUPE_AT(dispatch.max_per_backend),
        "Runs at the same time on one backend.")
      .between(1, 1'000'000),
    row("dispatch", "queue", TROUPE_AT(dispatch.queue),
        "Runs that wait for their turn; then callers get 429.")
      .between(0, 1'000'000),
    row("dispatch", "queue-per-organization",
        TROUPE_AT(dispatch.queue_per_organization),
        "Runs of one organization that wait for their turn.")
      .between(0, 1'000'000),
    row("dispatch", "prepare-timeout", TROUPE_AT(dispatch.prepare_timeout),
        "What a run gets on top of its wall limit to wait and to be prepared.")
      .between(1s, 6h),
    row("dispatch", "breaker-failures", TROUPE_AT(dispatch.breaker_failures),
        "Failures in a row after which a backend is left alone.")
      .between(1, 1'000),
    row("dispatch", "breaker-pause", TROUPE_AT(dispatch.breaker_pause),
        "How long it is left alone at first; this doubles.")
      .between(100ms, 1h),
    row("dispatch", "breaker-longest", TROUPE_AT(dispatch.breaker_longest),
        "How long it is left alone at most.")
      .between(100ms, 1h),
    row("dispatch", "reconcile-every", TROUPE_AT(dispatch.reconcile_every),
        "Between two looks for sandboxes that were left at a provider.")
      .between(1s, 24h),
  };
}

std::vector<setting_key> idempotency() {
  return {
    row("idempotency", "keep", TROUPE_AT(idempotency.keep),
        "How long an Idempotency-Key is remembered.")
      .between(1h, 720h),
    row("idempotency", "max-keys", TROUPE_AT(idempotency.max_keys),
        "How many are remembered per organization.")
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
