#include "app/assembly/options_from_settings.hpp"

#include "app/assembly/provider_options.hpp"
#include "runtime/model/sandbox_memory.hpp"
#include "runtime/model/warm_optimizations.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace troupe {

namespace {

isolation_level level_from(std::string_view text) {
  if (text == "strict")
    return isolation_level::strict;
  if (text == "best-effort")
    return isolation_level::best_effort;
  if (text == "off")
    return isolation_level::off;
  return isolation_level::standard;
}

std::vector<std::filesystem::path>
paths_from(const std::vector<std::string>& texts) {
  std::vector<std::filesystem::path> paths;
  for (auto& text : texts)
    paths.push_back(expand_home(text));
  return paths;
}

/// An operator who names a directory for the tools means them to see it; the
/// one that another program left at the usual place was not named by anybody.
std::vector<std::filesystem::path> shared_dirs_from(const settings& s) {
  auto paths = paths_from(s.local.shared_dirs);
  if (s.local.sandbox_dir != settings{}.local.sandbox_dir
      && !s.local.sandbox_dir.empty())
    paths.push_back(expand_home(s.local.sandbox_dir));
  return paths;
}

breaker_options breaker_options_from(const settings& s) {
  const auto& d = s.dispatch;
  breaker_options o;
  o.failures = d.breaker_failures;
  o.pause = d.breaker_pause;
  o.longest_pause = d.breaker_max_pause;
  return o;
}

link_identity link_identity_from(const settings& s) {
  const auto& c = s.cluster;
  return {expand_home(c.certificate).string(), expand_home(c.key).string(),
          expand_home(c.ca).string()};
}

} // namespace

std::filesystem::path expand_home(const std::string& path) {
  auto home = std::getenv("HOME");
  if (!path.starts_with("~/") || !home || !*home)
    return path;
  return std::filesystem::path{home} / path.substr(2);
}

config_defaults config_defaults_from(const settings& s) {
  return {.sandbox_dir = expand_home(s.local.sandbox_dir).string(),
          .e2b_template_id = s.e2b.template_id,
          .venv_name = s.local.venv_name};
}

isolation_level isolation_from(const settings& s) {
  return level_from(s.local.isolation);
}

network_policy network_from(const settings& s) {
  network_policy policy;
  if (s.local.network == "off")
    policy.mode = network_mode::off;
  else if (s.local.network == "allow")
    policy.mode = network_mode::listed;
  policy.allow = s.local.network_allow;
  return policy;
}

store_options store_options_from(const settings& s) {
  store_options o;
  o.data_directory = std::filesystem::absolute(expand_home(s.engine.data_dir));
  o.database.cache_bytes = s.storage.block_cache;
  o.master.file = expand_home(s.storage.master_key_file);
  // The key may stand in a config file as well as in the environment.
  if (const auto& key = s.storage.master_key; !key.empty()) {
    const std::string name = "the setting storage.master-key";
    o.master.variable = name;
    o.master.lookup = [name, key](const std::string& asked) {
      return asked == name ? std::optional{key.reveal()} : std::nullopt;
    };
  }
  o.catalog.defaults = config_defaults_from(s);
  o.runs.keep_runs = s.storage.max_run_records;
  o.runs.keep_bytes = s.storage.max_run_bytes;
  o.idempotency.keep = std::chrono::ceil<std::chrono::hours>(s.idempotency.ttl);
  o.idempotency.keep_keys = s.idempotency.max_keys;
  o.audit.keep_entries = s.storage.max_audit_entries;
  return o;
}

local_options local_options_from(const settings& s) {
  local_options o;
  o.state_dir = expand_home(s.local.runtime_dir).string();
  o.python = s.local.python;
  o.node = s.local.node;
  o.read_only_paths = s.local.read_only_paths;
  o.max_running = s.local.max_running;
  o.max_own_waiting = s.local.max_queued;
  o.isolation = isolation_from(s);
  o.end_on_output_limit = s.limits.on_output_limit == "kill";
  o.zygote = zygote_options_from(s);
  o.ready_node = s.local.prestarted_node;
  return o;
}

zygote::zygote_options zygote_options_from(const settings& s) {
  zygote::zygote_options o;
  o.enabled = s.local.warm_python;
  if (!s.local.preload.empty())
    o.preload = s.local.preload;
  o.max_slots = s.local.warm_slots;
  o.node = s.local.warm_node;
  for (const auto& name : s.local.disabled_optimizations)
    if (const auto* trick = find_warm_optimization(name))
      o.*trick->flag = false;
  return o;
}

environment_options environment_options_from(const settings& s) {
  environment_options o;
  o.root = store_options_from(s).data_directory / "environments";
  o.max_bytes = s.local.package_cache;
  o.build_timeout = std::chrono::duration_cast<std::chrono::seconds>(
    s.local.package_build_timeout);
  o.build_bytes = s.local.package_build_disk;
  o.max_builds = s.local.max_package_builds;
  o.network = network_from(s);
  o.isolation = level_from(s.local.isolation);
  o.use(find_interpreters(local_options_from(s)));
  o.pip_index_url = s.local.pip_index;
  o.npm_registry = s.local.npm_registry;
  o.source_builds = s.local.source_builds;
  o.standard_dir = expand_home(s.local.sandbox_dir);
  o.shared_dirs = shared_dirs_from(s);
  o.writable_dirs = paths_from(s.local.writable_dirs);
  return o;
}

peer_options peer_options_from(const settings& s) {
  peer_options o;
  o.name = s.cluster.name;
  o.seeds = s.cluster.seeds;
  o.identity = link_identity_from(s);
  o.beats = {s.cluster.heartbeat, s.cluster.node_timeout};
  o.runs_per_node = s.dispatch.max_running_per_backend;
  o.breaker = breaker_options_from(s);
  o.standard_dir = config_defaults_from(s).sandbox_dir;
  return o;
}

namespace {

/// All but the places, which are added as they are opened.
sandbox_options sandbox_options_from(const settings& s) {
  sandbox_options o;
  const auto& g = s.sandbox;
  o.rules.max = g.max;
  o.rules.max_per_organization = g.max_per_organization;
  o.rules.starting = g.starting > 0
    ? g.starting
    : 2 * std::max(1u, std::thread::hardware_concurrency());
  o.rules.queue = g.queue;
  o.rules.queue_per_organization = g.queue_per_organization;
  o.rules.queue_timeout = g.queue_timeout;
  o.rules.timeout = g.timeout;
  o.rules.max_life = g.max_life;
  o.rules.session_idle = g.session_idle_timeout;
  o.rules.paused_for = g.paused_for;
  o.rules.snapshots = g.snapshots;
  o.rules.processes = g.processes;
  o.rules.contexts = g.contexts;
  o.rules.cell_queue = g.cell_queue;
  o.standard = s.limits.standard;
  o.ceiling = s.limits.ceiling;
  o.network = network_from(s);
  o.isolation = isolation_from(s);
  return o;
}

} // namespace

local_sandbox_options local_sandbox_options_from(const settings& s) {
  local_sandbox_options o;
  o.cpus = s.sandbox.cpus;
  o.connections = s.sandbox.connections;
  o.prepared = s.sandbox.prepared;
  o.snapshot_bytes = s.sandbox.snapshot_bytes;
  auto& usual = o.prepared_limits;
  usual = apply(s.limits.standard, {}, s.limits.ceiling);
  usual.disk_bytes
    = std::min(usual.disk_bytes, most_sandbox_files(usual.memory_bytes));
  return o;
}

engine_options engine_options_from(const settings& s) {
  engine_options o;
  o.threads = s.engine.threads;
  o.drain_timeout = s.engine.drain_timeout;

  auto& d = s.dispatch;
  o.ledger.request_bytes = s.storage.max_request_bytes;
  o.admission.running = d.max_running;
  o.admission.running_per_organization = d.max_running_per_organization;
  o.admission.running_per_other_backend = d.max_running_per_backend;
  // What a backend itself can hold is its bound here, so that runs wait in one
  // place, fairly: below it only the engine's own runs do.
  auto at_most = [&](std::size_t bound) {
    return std::min(d.max_running_per_backend,
                    static_cast<std::uint32_t>(bound));
  };
  o.admission.running_per_backend
    = {{backend_kind::local, at_most(s.local.max_running)}};
  for (const auto& each : provider_accounts(s))
    o.admission.running_per_backend.emplace(each.name,
                                            at_most(each.limits().max_running));
  o.admission.waiting = d.max_queued;
  o.admission.waiting_per_organization = d.max_queued_per_organization;
  o.deadlines.allowance = d.prepare_timeout;
  o.breaker = breaker_options_from(s);

  o.rules.defaults = s.limits.standard;
  o.rules.ceiling = s.limits.ceiling;
  o.rules.network = network_from(s);
  o.rules.files = s.files.bounds;
  o.rules.isolation = isolation_from(s);
  o.rules.weakest = o.rules.isolation;
  o.rules.configs = config_defaults_from(s);
  if (auto name = parse_backend_name(s.dispatch.default_backend))
    o.rules.standard_backend = *name;
  o.rules.fail_closed = d.fail_closed;
  o.rules.inherited = inherit(s.local.pass_environment);
  o.sandboxes = sandbox_options_from(s);

  auto& c = s.cluster;
  if (!c.listen.empty()) {
    o.links = link_options{c.listen, link_identity_from(s)};
    o.links->beats = {c.heartbeat, c.node_timeout};
  }
  if (!c.name.empty())
    o.name = c.name;

  o.credentials.when_webhook_fails = s.credentials.on_error == "fail"
    ? credential_rules::on_error::fail
    : credential_rules::on_error::empty;
  o.credentials.webhook_timeout = s.credentials.timeout;
  o.credentials.keep_for = s.credentials.cache_ttl;
  return o;
}

net::exporter_options exporter_options_from(const settings& s) {
  net::exporter_options o;
  o.endpoint = s.telemetry.otlp_endpoint;
  o.headers = s.telemetry.otlp_headers;
  return o;
}

} // namespace troupe
