#include "app/daemon/engine_process.hpp"

#include "app/assembly/assembled_engine.hpp"
#include "app/assembly/options_from_settings.hpp"
#include "app/daemon/drain.hpp"
#include "app/daemon/exit_code.hpp"
#include "app/daemon/http_options.hpp"
#include "app/daemon/process_metrics.hpp"
#include "app/logging/access_log.hpp"
#include "app/logging/logging.hpp"
#include "net/compat/e2b/e2b.hpp"
#include "net/server/server.hpp"
#include "runtime/base/log.hpp"
#include "storage/adapters/maintenance.hpp"
#include "storage/adapters/response_store.hpp"

#include <unistd.h>

#include <atomic>

namespace troupe {

namespace {

// What a stop may take on top of the drain before it counts as hanging.
constexpr std::chrono::seconds stop_slack{10};

/// Its reason is the last line of the log.
void end_process(std::string_view why) {
  log::error(why);
  logging::flush_current();
  ::_exit(exit_ours);
}

} // namespace

/// Declared in the order of opening, so that even a half-opened host goes away
/// in reverse.
struct engine_process::parts {
  std::chrono::milliseconds drain{};
  bool tls = false;
  std::unique_ptr<watchdog> watch;
  std::unique_ptr<assembled_engine> engine;
  std::shared_ptr<response_store> responses;
  std::unique_ptr<troupe::maintenance> upkeep;
  std::unique_ptr<engine_drain> draining;
  std::unique_ptr<net::http_server> server;
  std::unique_ptr<net::http_server> pages; // of sandboxes; perhaps
  std::unique_ptr<net::http_server> e2b;   // at a root of its own; perhaps
  std::shared_ptr<net::e2b_facade::facade> e2b_clients; // null: not served
  const std::shared_ptr<std::atomic<bool>> stopping
    = std::make_shared<std::atomic<bool>>(false);

  result<void> open_server(const settings& s);
  std::vector<std::string> urls() const;
  result<void> open_pages(const settings& s, net::previews& seen);
  void add_letta(const settings& s);
  result<void> open_e2b(const settings& s);
  void tell_e2b_urls();
  void stop();
};

// -- opening ------------------------------------------------------------------

result<void> engine_process::parts::open_server(const settings& s) {
  auto options = server_options_from(s);
  options.access_log = access_log_of(s);
  if (auto* sockets = engine->sockets())
    options.host = &sockets->context();
  options.watch = watch.get();
  options.more_metrics = [from = engine.get(), turns = watch.get()] {
    return process_metrics() + from->metrics() + turns->metrics()
      + logging::metrics();
  };
  auto& front = engine->engine();
  server = std::make_unique<net::http_server>(front, std::move(options));
  auto api = api_options_from(s);
  responses = make_stored_responses(engine->storage());
  upkeep = make_stored_maintenance(engine->storage(), store_options_from(s));
  api.archive = responses;
  api.packages = engine->packages();
  api.files = engine->output_files();
  api.keeper = upkeep.get();
  draining = std::make_unique<engine_drain>(engine->actors());
  api.drain = [d = draining.get(), most = drain](auto time, auto done) {
    d->begin(time.value_or(most), std::move(done));
  };
  api.sandboxes = &engine->actors().sandboxes();
  api.ports = std::make_shared<net::previews>(api.sandboxes, front,
                                              preview_options_from(s));
  const auto seen = api.ports;
  net::add_api(server->routes(), front, std::move(api));
  if (s.compat.letta)
    add_letta(s);
  if (s.mcp.enabled) {
    auto mcp = mcp_options_from(s);
    mcp.sandboxes = &engine->actors().sandboxes();
    mcp.stopping = stopping;
    net::mcp::add_mcp(server->routes(), front, std::move(mcp));
  }
  // What comes in at once finds it ready: what cannot be is told by then.
  engine->wait_until_probed();
  if (auto opened = open_pages(s, *seen); !opened)
    return opened;
  if (auto opened = open_e2b(s); !opened)
    return opened;
  if (auto started = server->start(); !started)
    return std::move(started).error().within("serve " + s.http.listen);
  engine->lock().serves(urls());
  tell_e2b_urls();
  return {};
}

void engine_process::parts::add_letta(const settings& s) {
  auto letta = letta_options_from(s);
  letta.packages = engine->packages();
  if (s.compat.reveal_values) {
    auto open = [from = engine->configuration()](const auto& v) {
      return from->unseal(v);
    };
    letta.reveal = open;
    letta.reveal_agent = open;
  }
  net::letta::add_letta(server->routes(), engine->engine(), std::move(letta));
}

/// One facade for both listeners: a sandbox made by one is reached by the
/// other.
result<void> engine_process::parts::open_e2b(const settings& s) {
  if (!s.compat.e2b)
    return {};
  e2b_clients = net::e2b_facade::make_facade(engine->engine(),
                                             &engine->actors().sandboxes());
  net::e2b_facade::add_e2b(server->routes(), e2b_clients);
  if (s.compat.e2b_listen.empty())
    return {};
  auto options = e2b_server_options_from(s);
  options.access_log = access_log_of(s);
  if (auto* sockets = engine->sockets())
    options.host = &sockets->context();
  options.watch = watch.get();
  e2b
    = std::make_unique<net::http_server>(engine->engine(), std::move(options));
  net::e2b_facade::add_e2b_at_root(e2b->routes(), e2b_clients);
  if (auto started = e2b->start(); !started)
    return std::move(started).error().within("serve E2B's API at "
                                             + s.compat.e2b_listen);
  return {};
}

/// A root of its own first: signed URLs and all paths work there.
void engine_process::parts::tell_e2b_urls() {
  if (!e2b_clients)
    return;
  std::vector<std::string> all;
  const auto* scheme = tls ? "https://" : "http://";
  if (e2b)
    for (const auto& each : e2b->addresses())
      all.push_back(scheme + each);
  for (const auto& each : urls())
    all.push_back(each + "/compat/e2b");
  net::e2b_facade::tell_urls(*e2b_clients, std::move(all));
}

/// First, so that the API can say where it is.
result<void> engine_process::parts::open_pages(const settings& s,
                                               net::previews& seen) {
  if (s.sandbox.preview_listen.empty())
    return {};
  auto options = preview_server_options_from(s);
  if (auto* sockets = engine->sockets())
    options.host = &sockets->context();
  options.watch = watch.get();
  pages
    = std::make_unique<net::http_server>(engine->engine(), std::move(options));
  seen.add_host_routes(pages->routes());
  if (auto started = pages->start(); !started)
    return std::move(started).error().within("serve previews at "
                                             + s.sandbox.preview_listen);
  seen.listens(tls ? "https" : "http", pages->port());
  return {};
}

result<std::unique_ptr<engine_process>>
engine_process::open(const configuration& what, watchdog_options watch) {
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
  std::unique_ptr<engine_process> h{new engine_process{std::move(p)}};
  assembly_options options;
  options.keeps_files = true;
  auto opened
    = assembled_engine::open(s, *h->parts_->watch, std::move(options));
  if (!opened)
    return opened.error();
  h->parts_->engine = std::move(*opened);
  if (auto ok = h->parts_->open_server(s); !ok)
    return ok.error();
  return h;
}

// -- stopping -----------------------------------------------------------------

void engine_process::parts::stop() {
  *stopping = true; // streams without an end of their own end now
  draining.reset(); // before its engine, and it answers before the server ends
  // One deadline for both: the watchdog grants the drain once.
  if (engine)
    engine->drain(std::chrono::steady_clock::now() + drain);
  if (server && !server->drain(drain))
    log::warning("ending runs still in progress");
  // The engine answers what still waits, and the server writes it down the
  // wire: so it goes after the engine.
  if (engine)
    engine->stop();
  if (server)
    server->stop();
  if (pages)
    pages->stop();
  if (e2b)
    e2b->stop();
  if (responses)
    responses->stop();
  upkeep.reset(); // waits for a backup; its answer needs the server
  server.reset();
  pages.reset();
  e2b.reset();
  responses.reset();
  engine.reset();
}

engine_process::engine_process(std::unique_ptr<parts> p)
    : parts_{std::move(p)} {}

engine_process::~engine_process() {
  stop();
}

std::vector<std::string> engine_process::parts::urls() const {
  auto all = server ? server->addresses() : std::vector<std::string>{};
  for (auto& each : all)
    each.insert(0, tls ? "https://" : "http://");
  return all;
}

std::vector<std::string> engine_process::addresses() const {
  return parts_ && parts_->server ? parts_->server->addresses()
                                  : std::vector<std::string>{};
}

std::vector<std::string> engine_process::urls() const {
  return parts_ ? parts_->urls() : std::vector<std::string>{};
}

std::uint16_t engine_process::link_port() const {
  return parts_ && parts_->engine ? parts_->engine->actors().published_port()
                                  : 0;
}

result<void> engine_process::reload() {
  if (!parts_->tls)
    return {};
  for (auto* each :
       {parts_->server.get(), parts_->pages.get(), parts_->e2b.get()})
    if (each)
      if (auto again = each->reload_tls(); !again)
        return again;
  return {};
}

void engine_process::stop() {
  if (!parts_)
    return;
  auto in_time = parts_->watch->is_over("the stop", parts_->drain + stop_slack);
  parts_->stop();
  parts_.reset();
}

} // namespace troupe
