#include "app/assembly/engine_process.hpp"

#include "actors/engine/engine_host.hpp"
#include "app/assembly/open_providers.hpp"
#include "app/assembly/options_from_settings.hpp"
#include "app/daemon/exit_code.hpp"
#include "app/logging/access_log.hpp"
#include "app/logging/logging.hpp"
#include "net/compat/letta/letta.hpp"
#include "net/server/server.hpp"
#include "net/telemetry/exporter.hpp"
#include "net/telemetry/traced_engine.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/base/log.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/packages/backend_with_packages.hpp"
#include "runtime/packages/environment_service.hpp"
#include "storage/adapters/maintenance.hpp"
#include "storage/adapters/response_store.hpp"
#include "storage/adapters/stored.hpp"

#include <unistd.h>

namespace troupe {

namespace {

// What a stop may take on top of the drain before it counts as hanging.
constexpr std::chrono::seconds stop_slack{10};

std::string store_metrics(const store& kept) {
  return "# HELP troupe_store_writable Whether the data directory is writable: "
         "0 after a write has failed, until one succeeds.\n# TYPE "
         "troupe_store_writable gauge\ntroupe_store_writable "
    + std::string{kept.db->trouble() ? "0" : "1"} + "\n";
}

/// Its reason is the last line of the log.
void end_process(std::string_view why) {
  log::error(why);
  logging::flush_current();
  ::_exit(exit_ours);
}

} // namespace

/// Declared in the order of opening, so that even a half-opened host goes away
/// in reverse.
struct host::parts {
  std::chrono::milliseconds drain{};
  bool tls = false;
  std::unique_ptr<watchdog> watch;
  std::unique_ptr<io_thread> local_io;
  watchdog::watched local_turns;
  std::shared_ptr<local_backend> local;
  std::shared_ptr<environment_builder> builder;
  std::shared_ptr<environment_desk> packages;
  std::shared_ptr<backend> runs;
  std::shared_ptr<store> kept;
  std::shared_ptr<configuration_store> configuration;
  std::unique_ptr<open_providers> remote;
  std::unique_ptr<engine_host> engine;
  watchdog::watched engine_answers;
  std::shared_ptr<response_store> archive;
  std::unique_ptr<maintenance> keeper;
  std::unique_ptr<net::span_exporter> exporter;
  std::unique_ptr<net::traced_engine> traced;
  std::unique_ptr<net::http_server> server;

  result<void> open_local(const settings& s);
  result<void> open_engine(const settings& s);
  result<void> open_telemetry(const settings& s);
  result<void> open_server(const settings& s);
  troupe::engine& front();
  void stop();
};

// -- opening ------------------------------------------------------------------

result<void> host::parts::open_local(const settings& s) {
  if (!s.local.enabled)
    return {};
  local_io = std::make_unique<io_thread>();
  local_turns = watch->turns("local runs", local_io->executor());
  auto opened
    = local_backend::open(local_io->executor(), local_options_from(s));
  if (!opened)
    return std::move(opened).error().within(
      "open the local backend (set local.enabled = false to disable it)");
  local = std::move(*opened);
  builder
    = std::make_shared<environment_builder>(local, environment_options_from(s));
  if (auto built = builder->open(); !built)
    return std::move(built).error().within("open the package sets");
  packages = std::make_shared<environment_desk>(builder);
  runs = std::make_shared<environment_backend>(local, builder);
  return {};
}

result<void> host::parts::open_engine(const settings& s) {
  auto where = store_options_from(s);
  auto opened_store = open_store(where);
  if (!opened_store)
    return std::move(opened_store).error().within("open " + s.engine.data_dir);
  kept = std::make_shared<store>(std::move(*opened_store));
  keeper = make_stored_maintenance(kept, std::move(where));

  auto options = engine_options_from(s);
  configuration = make_stored_configuration(kept);
  options.configuration = configuration;
  options.books = make_stored_journal(kept);
  options.report = [](std::string_view line) { log::info(line); };
  options.warn = [](std::string_view line) { log::warning(line); };
  options.deriver = local;
  options.sockets = local_io.get();
  if (runs)
    options.backends.push_back(runs);
  auto providers
    = open_providers::open(s, {kept, kept->sandboxes.get()}, options, *watch);
  if (!providers)
    return std::move(providers).error().within("open the remote backends");
  remote = std::move(*providers);
  if (!s.cluster.seeds.empty()) {
    auto nodes = peer_options_from(s);
    nodes.report = options.report;
    nodes.warn = options.warn;
    nodes.watch = watch.get();
    auto met = peers::open(std::move(nodes));
    if (!met)
      return std::move(met).error().within(
        "connect to the nodes of cluster.seeds");
    options.backends.push_back(std::move(*met));
  }
  if (options.door)
    options.door->watch = watch.get();
  auto opened = troupe::open_engine(std::move(options));
  if (!opened)
    return std::move(opened).error().within("open the engine");
  engine = std::move(*opened);
  engine_answers = watch->answers(
    "the actors", [asked = &engine->engine()](std::function<void()> turned) {
      asked->health(
        [turned = std::move(turned)](result<engine_health>) { turned(); });
    });
  return {};
}

result<void> host::parts::open_telemetry(const settings& s) {
  if (s.telemetry.otlp_endpoint.empty())
    return {};
  auto options = exporter_options_from(s);
  options.watch = watch.get();
  auto opened = net::span_exporter::open(std::move(options));
  if (!opened)
    return opened.error();
  exporter = std::move(*opened);
  traced = std::make_unique<net::traced_engine>(
    engine->engine(), s.telemetry.trace_sample_ratio,
    [to = exporter.get()](net::span one) { to->add(std::move(one)); });
  return {};
}

/// The engine as the front doors see it.
engine& host::parts::front() {
  if (traced)
    return *traced;
  return engine->engine();
}

result<void> host::parts::open_server(const settings& s) {
  auto options = server_options_from(s);
  options.access_log = access_log_of(s);
  if (local_io)
    options.host = &local_io->context();
  options.watch = watch.get();
  options.more_metrics = [from = remote.get(), spans = exporter.get(),
                          turns = watch.get(), store = kept] {
    return from->metrics() + (spans ? spans->metrics() : std::string{})
      + turns->metrics() + logging::metrics() + store_metrics(*store);
  };
  server = std::make_unique<net::http_server>(front(), std::move(options));
  auto api = api_options_from(s);
  api.archive = archive = make_stored_archive(kept);
  api.packages = packages.get();
  api.keeper = keeper.get();
  net::add_api(server->routes(), front(), std::move(api));
  if (s.compat.letta) {
    auto letta = letta_options_from(s);
    letta.packages = packages.get();
    if (s.compat.reveal_values) {
      auto open
        = [from = configuration](const auto& v) { return from->unseal(v); };
      letta.reveal = open;
      letta.reveal_agent = open;
    }
    net::letta::add_letta(server->routes(), front(), std::move(letta));
  }
  if (auto started = server->start(); !started)
    return std::move(started).error().within("serve " + s.http.listen);
  return {};
}

result<std::unique_ptr<host>> host::open(const configuration& what,
                                         watchdog_options watch) {
  auto& s = what.values;
  auto p = std::make_unique<parts>();
  watch.warn_after = s.watchdog.warn_after;
  watch.end_after = s.watchdog.exit_after;
  if (!watch.end)
    watch.end = end_process;
  p->watch = std::make_unique<watchdog>(std::move(watch));
  p->watch->start();
  p->drain = s.engine.drain_timeout;
  p->tls = !s.http.tls_certificate.empty();
  std::unique_ptr<host> h{new host{std::move(p)}};
  for (auto step : {&parts::open_local, &parts::open_engine,
                    &parts::open_telemetry, &parts::open_server})
    if (auto done = (h->parts_.get()->*step)(s); !done)
      return done.error();
  return h;
}

// -- stopping -----------------------------------------------------------------

void host::parts::stop() {
  // Who is on the way out may be slow to answer.
  engine_answers.stop();
  // One deadline for both: the watchdog grants the drain once.
  if (engine)
    engine->drain(std::chrono::steady_clock::now() + drain);
  if (server && !server->drain(drain))
    log::warning("ending runs still in progress");
  // The engine answers whoever still waits, and the server writes it down the
  // wire: so it goes after the engine.
  if (engine)
    engine->stop();
  if (server)
    server->stop();
  if (archive)
    archive->stop();
  keeper.reset(); // waits for a backup; its answer needs the server
  server.reset();
  archive.reset();
  traced.reset();
  exporter.reset(); // sends what is left
  engine.reset();
  remote.reset();
  if (builder)
    builder->stop();
  if (runs)
    runs->stop();
  runs.reset();
  packages.reset();
  builder.reset();
  local.reset();
  local_turns.stop();
  local_io.reset();
  configuration.reset();
  kept.reset();
}

host::host(std::unique_ptr<parts> p) : parts_{std::move(p)} {}

host::~host() {
  stop();
}

std::vector<std::string> host::addresses() const {
  return parts_ && parts_->server ? parts_->server->addresses()
                                  : std::vector<std::string>{};
}

std::vector<std::string> host::urls() const {
  auto all = addresses();
  for (auto& each : all)
    each.insert(0, parts_->tls ? "https://" : "http://");
  return all;
}

std::uint16_t host::link_port() const {
  return parts_ && parts_->engine ? parts_->engine->published_port() : 0;
}

result<void> host::reload() {
  return parts_->tls ? parts_->server->reload_tls() : result<void>{};
}

void host::stop() {
  if (!parts_)
    return;
  auto in_time = parts_->watch->is_over("the stop", parts_->drain + stop_slack);
  parts_->stop();
  parts_.reset();
}

} // namespace troupe
