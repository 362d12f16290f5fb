#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/model/backend_name.hpp"
#include "runtime/model/limits.hpp"
#include "runtime/model/run_files.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Every setting of the engine, one group of config.ini per member. The names,
/// ranges, help texts and aliases stand in runtime/settings/table*.cpp; the
/// defaults stand here and nowhere else. Sizes are bytes.
struct settings {
  using ms = std::chrono::milliseconds;
  using texts = std::vector<std::string>;

  struct engine_group {
    std::string data_dir = "data"; // relative to where the engine was started
    std::uint32_t threads = 0;     // of actors; 0: one per two cores
    std::uint32_t io_threads = 0;  // 0: one per core; of two, a shared one
    ms drain_timeout{30'000};      // what an orchestrator usually grants
  } engine;

  struct watchdog_group {
    ms warn_after{5'000};  // far beyond the longest turn that was ever measured
    ms exit_after{60'000}; // by then every client has given up; 0: never
  } watchdog;

  struct http_group {
    std::string listen = "127.0.0.1:8283"; // the port that Letta clients know
    bool require_key = false; // a key even on loopback; elsewhere always
    texts allowed_hosts;      // Host headers beside our own address
    std::uint32_t max_connections = 10'000;
    std::uint32_t max_connections_per_address = 2'000;
    std::uint32_t max_in_flight = 4'096;
    std::uint64_t max_header = 16ull << 10;
    std::uint64_t max_body = 16ull << 20; // above the largest legal run request
    ms header_timeout{10'000};
    ms body_timeout{10'000}; // and a second more per 16 KiB
    ms idle_timeout{60'000};
    ms write_timeout{30'000};
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_client_ca;
  } http;

  struct log_group {
    std::string level = "info";
    std::string format = "auto"; // text on a terminal, else JSON lines
    std::string access = "auto"; // a line per request: on where it is JSON
    std::uint32_t queue = 8192;  // lines; 4 MiB of common length
  } log;

  struct limits_group {
    troupe::limits standard; // for what a run does not say
    std::string on_output_limit
      = "truncate"; // as at Letta: no run is killed for it
    troupe::limits ceiling = standard_ceiling();
  } limits;

  struct files_group {
    file_bounds bounds;
    std::uint64_t inline_bytes = 256ull << 10; // a picture; more is a link
    std::uint64_t kept_bytes = 256ull << 20;   // in memory, of all runs
    ms keep{3'600'000}; // long enough to fetch, short enough to forget
  } files;

  struct local_group {
    bool enabled = true;
    std::string runtime_dir;           // "": a private one of this user
    std::uint32_t max_running = 1'024; // 0.6 MB each while they wait
    std::uint32_t max_queued = 4'096;
    std::string isolation = "standard";
    std::string network = "public";
    texts network_allow;
    bool warm_python = true;
    texts preload;                    // empty: the set that Letta preloads
    std::uint32_t warm_slots = 1'024; // 0.1 MB each while idle
    bool warm_node = true;
    std::uint32_t prestarted_node = 2; // some 10 MB each while they wait
    texts
      disabled_optimizations; // each is skipped by itself where it cannot work
    std::string python;       // "": found by itself
    std::string node;
    texts read_only_paths;
    std::uint64_t package_cache = 10ull << 30;
    ms package_build_timeout{600'000}; // pip with a slow mirror
    std::uint64_t package_build_disk = 4ull << 30;
    std::uint32_t max_package_builds = 4; // each may take 2 GiB of memory
    std::string pip_index;                // "": the installer's own
    std::string npm_registry;             // the same
    bool source_builds = false;           // wheels only: no code at install
    texts pass_environment; // of our own process; nothing by default
    std::string sandbox_dir = "~/.letta/tool_execution_dir";
    texts shared_dirs;
    texts writable_dirs;
    std::string venv_name;
    bool venv_autoreload = true;
  } local;

  struct dispatch_group {
    std::string default_backend = "e2b"; // of runs and tools that name none
    bool fail_closed = false;            // refuse rather than run it here
    std::uint32_t max_running = 2'048;   // more than one organization's
    std::uint32_t max_running_per_organization = 1'024;
    std::uint32_t max_running_per_backend = 1'024;
    std::uint32_t max_queued = 4'096;
    std::uint32_t max_queued_per_organization = 2'048;
    ms prepare_timeout{600'000}; // waiting and a large pip install
    std::uint32_t breaker_failures = 5;
    ms breaker_pause{1'000};
    ms breaker_max_pause{30'000};
    ms reconcile_interval{60'000}; // one list per provider, when there is need
  } dispatch;

  struct sandbox_group {
    std::uint32_t max = 1'000; // idle ones cost a megabyte or less
    std::uint32_t max_per_organization = 100;
    std::uint32_t starting = 0; // 0: two per core
    std::uint32_t queue = 1'000;
    std::uint32_t queue_per_organization = 500;
    ms queue_timeout{30'000};
    ms timeout{300'000}; // as E2B's clients have it
    ms max_life{86'400'000};
    ms session_idle_timeout{900'000}; // a chat that says nothing for so long
    ms paused_for{3'600'000};
    std::uint32_t snapshots = 100;
    std::uint64_t snapshot_bytes = 1ull << 30; // they lie in memory
    std::uint32_t processes = 64;
    std::uint32_t cpus = 2;
    std::uint32_t connections = 1'024;
    std::uint32_t prepared = 2;  // a megabyte each, and most of a creation
    std::uint32_t contexts = 16; // a Python one has 10 MiB and more
    std::uint32_t cell_queue = 64;
    std::string preview_listen; // "": no host names of previews
    std::string preview_domain = "localhost";
    bool public_ports = false;
  } sandbox;

  struct idempotency_group {
    ms ttl{86'400'000}; // a day: longer than any client retries
    std::uint32_t max_keys = 100'000;
  } idempotency;

  struct credentials_group {
    std::string webhook_url; // "": no webhook
    secret webhook_key;
    ms timeout{10'000};
    std::string on_error = "ignore"; // as Letta does
    ms cache_ttl{0};                 // credentials are meant to be short-lived
    bool allow_private = false; // a name that resolves to a private address
  } credentials;

  struct e2b_group {
    secret api_key; // set: E2B is configured
    std::string template_id;
    std::string domain = "e2b.app";
    std::string api_url;     // "": https://api.<domain>
    std::string sandbox_url; // "": by the name of the sandbox
    ms timeout{300'000}; // life of a sandbox; their server's default is 15 s
    std::uint32_t max_sandboxes = 100; // the usual quota of a paid plan
    std::uint32_t create_rate = 5;     // theirs of a paid plan; hobby: 1
    std::uint32_t prewarmed_sandboxes
      = 0; // idle ones are billed like busy ones
    bool allow_private = false;
    bool legacy_create = false; // control planes without /v2
  } e2b;

  struct modal_group {
    secret token_id;
    secret token_secret; // both set: Modal is configured
    std::string server_url = "https://api.modal.com:443";
    std::string environment;  // "": the workspace's default
    std::string endpoint_url; // set: a deployed runner instead of the API
    secret proxy_token_id;
    secret proxy_token_secret;
    ms timeout{300'000};
    std::uint32_t max_sandboxes = 100;
    std::uint32_t create_rate = 10; // beyond it they tell us to wait
    std::uint32_t prewarmed_sandboxes
      = 0;                             // idle ones are billed like busy ones
    bool sandbox_v2 = true;            // their newer kind first, then the older
    std::string image_builder_version; // "": the environment's
    ms max_throttle_wait{60'000};      // that they may make a call wait
    // Modal knows its own clients only, and may come to want newer ones.
    std::string client_type = "8";
    std::string client_version = "1.0.0";
    std::string libmodal_version = "modal-js/0.11.1";
    bool allow_private = false;
  } modal;

  struct daytona_group {
    secret api_key; // set: Daytona is configured
    std::string api_url = "https://app.daytona.io/api";
    std::string target;
    std::string snapshot;     // "": theirs
    std::string organization; // with a JWT only
    ms timeout{300'000};
    std::uint32_t max_sandboxes = 100;
    std::uint32_t create_rate = 5; // 300 a minute: their lowest tier
    std::uint32_t prewarmed_sandboxes
      = 0; // idle ones are billed like busy ones
    bool allow_private = false;
  } daytona;

  struct aio_group {
    std::string host; // "": no AIO sandbox is configured
    std::uint32_t port = 8090;
    secret api_key;
    ms timeout{300'000};
    std::uint32_t max_running = 16; // all in one container
    bool tls = false;
    bool allow_private = false;
  } aio;

  struct storage_group {
    secret master_key;           // "": the file
    std::string master_key_file; // "": <data-dir>/master.key
    std::uint64_t block_cache = 32ull << 20;
    std::uint64_t max_run_bytes = 1ull << 30;
    std::uint32_t max_run_records = 10'000;
    std::uint64_t max_request_bytes = 64u << 10; // few sources are larger
    std::uint32_t max_audit_entries = 1'000'000;
  } storage;

  struct compat_group {
    bool e2b = true;
    std::string e2b_listen; // "": below /compat/e2b only
    bool letta = true;
    bool reveal_values = false; // Letta sends variables back; we do not
    bool letta_secure = false;
    secret letta_password;
    secret letta_encryption_key;
  } compat;

  struct mcp_group {
    bool enabled = true;
    std::uint32_t result_chars = 30'000; // what clients show without cutting
    std::uint32_t max_calls = 32;        // of a key; models ask for a few
    std::uint32_t max_streams = 16;      // of a key; one per client
  } mcp;

  struct telemetry_group {
    bool metrics = true;
    bool metrics_without_key = false; // beyond loopback
    std::string otlp_endpoint;        // "": no traces leave
    secret otlp_headers;
    double trace_sample_ratio = 1.0;
  } telemetry;

  struct cluster_group {
    std::string name; // "": this node is alone
    std::string listen;
    texts seeds;
    std::string certificate;
    std::string key;
    std::string ca;
    std::chrono::milliseconds heartbeat{5'000};
    std::chrono::milliseconds node_timeout{20'000};
  } cluster;

  /// Another account at a provider, as [e2b.research] has it: all settings,
  /// with the account's group in the place of its provider's.
  struct account {
    backend_name name;
    std::shared_ptr<const settings> as;
  };
  std::vector<account> accounts;
};

} // namespace troupe
