#include "app/assembly/options_from_settings.hpp"

#include <algorithm>
#include <cstdlib>

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

config_defaults config_defaults_from(const settings& s) {
  return {.sandbox_dir = expand_home(s.local.sandbox_dir).string(),
          .e2b_template_id = s.e2b.template_id,
          .venv_name = s.local.venv_name};
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
          expand_home(c.authority).string()};
}

/// As the listener sees a Host header: lower case, an IPv6 address bare.
std::vector<std::string> hosts_from(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (std::string name : texts) {
    if (name.starts_with('['))
      name = name.substr(1, name.size() - 2);
    for (char& c : name)
      if (c >= 'A' && c <= 'Z')
        c = static_cast<char>(c | 0x20);
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace

std::filesystem::path expand_home(const std::string& path) {
  auto home = std::getenv("HOME");
  if (!path.starts_with("~/") || !home || !*home)
    return path;
  return std::filesystem::path{home} / path.substr(2);
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
  o.max_queued = s.local.max_queued;
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
  const auto wanted = [&s](std::string_view trick) {
    return std::ranges::find(s.local.disabled_optimizations, trick)
      == s.local.disabled_optimizations.end();
  };
  o.child_allocator = wanted("child-allocator");
  o.huge_text = wanted("huge-text");
  o.huge_heap = wanted("huge-heap");
  o.merged_maps = wanted("merged-maps");
  o.joined_libraries = wanted("joined-libraries");
  o.inherited_maps = wanted("inherited-maps");
  o.hot_blocks = wanted("hot-blocks");
  o.cold_memory = wanted("cold-memory");
  o.gathered_pages = wanted("gathered-pages");
  o.ahead = wanted("fork-ahead");
  o.early_word = wanted("early-word");
  o.ready_pages = wanted("ready-pages");
  o.idle_nursery = wanted("idle-nursery");
  o.direct_seed = wanted("direct-seed");
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
  o.runs_per_node = s.dispatch.max_running_per_backend;
  o.breaker = breaker_options_from(s);
  o.standard_dir = config_defaults_from(s).sandbox_dir;
  return o;
}

engine_options engine_options_from(const settings& s) {
  engine_options o;
  o.threads = s.engine.threads;
  o.drain_timeout = s.engine.drain_timeout;

  auto& d = s.dispatch;
  o.admission.running = d.max_running;
  o.admission.running_per_organization = d.max_running_per_organization;
  o.admission.running_per_other_backend = d.max_running_per_backend;
  o.admission.running_per_backend
    = {{backend_kind::local,
        std::min(d.max_running_per_backend, s.local.max_running)},
       {backend_kind::e2b,
        std::min(d.max_running_per_backend, s.e2b.max_sandboxes)},
       {backend_kind::modal,
        std::min(d.max_running_per_backend, s.modal.max_sandboxes)},
       {backend_kind::daytona,
        std::min(d.max_running_per_backend, s.daytona.max_sandboxes)},
       {backend_kind::aio,
        std::min(d.max_running_per_backend, s.aio.max_running)}};
  o.admission.waiting = d.max_queued;
  o.admission.waiting_per_organization = d.max_queued_per_organization;
  o.deadlines.allowance = d.prepare_timeout;
  o.breaker = breaker_options_from(s);

  o.rules.defaults = s.limits.standard;
  o.rules.ceiling = s.limits.ceiling;
  o.rules.network = network_from(s);
  o.rules.isolation = isolation_from(s);
  o.rules.weakest = o.rules.isolation;
  o.rules.configs = config_defaults_from(s);
  if (auto kind = parse_backend(s.dispatch.default_backend))
    o.rules.standard_backend = *kind;
  o.rules.fail_closed = d.fail_closed;
  o.rules.inherited = inherit(s.local.pass_environment);

  auto& c = s.cluster;
  if (!c.listen.empty())
    o.door = link_options{c.listen, link_identity_from(s)};
  if (!c.name.empty())
    o.name = c.name;

  o.credentials.when_webhook_fails = s.credentials.on_error == "fail"
    ? credential_rules::on_error::fail
    : credential_rules::on_error::empty;
  o.credentials.webhook_timeout = s.credentials.timeout;
  o.credentials.keep_for = s.credentials.cache_ttl;
  return o;
}

net::server_options server_options_from(const settings& s) {
  auto& h = s.http;
  net::server_options o;
  o.listen = {h.listen};
  o.threads = s.engine.io_threads;
  o.auth
    = h.require_key ? net::auth_mode::required : net::auth_mode::loopback_open;
  o.allowed_hosts = hosts_from(h.allowed_hosts);
  o.tls_certificate_file = expand_home(h.tls_certificate).string();
  o.tls_key_file = expand_home(h.tls_key).string();
  o.tls_client_ca_file = expand_home(h.tls_client_ca).string();
  o.head_limit = h.max_header;
  o.in_flight_limit = h.max_in_flight;
  o.connection_limit = h.max_connections;
  o.connections_per_address = h.max_connections_per_address;
  o.head_timeout = h.header_timeout;
  o.body_timeout = h.body_timeout;
  o.idle_timeout = h.idle_timeout;
  o.write_timeout = h.write_timeout;
  o.metrics = s.telemetry.metrics;
  o.open_details = s.telemetry.metrics_without_key;
  return o;
}

net::exporter_options exporter_options_from(const settings& s) {
  net::exporter_options o;
  o.endpoint = s.telemetry.otlp_endpoint;
  o.headers = s.telemetry.otlp_headers;
  return o;
}

net::api_options api_options_from(const settings& s) {
  net::api_options o;
  o.run_body_limit = s.http.max_body;
  o.remember_for = std::chrono::ceil<std::chrono::hours>(s.idempotency.ttl);
  o.defaults = config_defaults_from(s);
  return o;
}

net::letta::letta_options letta_options_from(const settings& s) {
  net::letta::letta_options o;
  o.body_limit = s.http.max_body;
  o.defaults = config_defaults_from(s);
  if (s.compat.letta_secure)
    o.password = s.compat.letta_password;
  return o;
}

} // namespace troupe
