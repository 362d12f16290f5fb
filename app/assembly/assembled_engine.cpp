#include "app/assembly/assembled_engine.hpp"

#include "app/assembly/options_from_settings.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics_writer.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"
#include "runtime/packages/backend_with_packages.hpp"
#include "storage/adapters/configuration_store.hpp"
#include "storage/adapters/journal.hpp"
#include "storage/adapters/memory_leases.hpp"
#include "storage/adapters/sandbox_leases.hpp"

#include <algorithm>
#include <filesystem>

namespace troupe {

namespace {

std::string store_metrics(const store& kept) {
  metrics_writer out;
  out.gauge("troupe_store_writable",
            "Whether the data directory is writable: 0 after a write has "
            "failed, until one succeeds.",
            kept.db->write_failure() ? 0 : 1);
  if (const auto size = kept.db->measure()) {
    out.gauge("troupe_store_bytes", "Size of the store's tables on disk.",
              size->table_bytes);
    out.gauge("troupe_store_memory_bytes",
              "Memory of the store: tables to be written, and caches.",
              size->memtable_bytes + size->cache_bytes);
    out.gauge("troupe_store_keys", "Estimated number of keys in the store.",
              size->estimated_keys);
  }
  std::error_code code;
  const auto disk = std::filesystem::space(kept.db->directory(), code);
  if (!code) {
    out.gauge("troupe_store_disk_free_bytes",
              "Space left on the disk of the data directory.", disk.available);
    out.gauge("troupe_store_disk_size_bytes",
              "Size of the disk of the data directory.", disk.capacity);
  }
  return out.take();
}

} // namespace

// -- opening ------------------------------------------------------------------

result<std::unique_ptr<assembled_engine>>
assembled_engine::open(const settings& s, watchdog& watch,
                       assembly_options options) {
  std::unique_ptr<assembled_engine> made{new assembled_engine};
  if (!options.in_memory) {
    auto lock = engine_lock::take(store_options_from(s).data_directory);
    if (!lock)
      return lock.error();
    made->lock_ = std::move(*lock);
  }
  // The sandboxes go first: their warden is started before there are threads.
  if (options.local)
    made->local_runs_ = options.local;
  else if (s.local.enabled)
    if (auto ok = made->open_local(s, watch, !options.in_memory); !ok)
      return ok.error();
  if (!options.in_memory)
    if (auto ok = made->open_store_of(s); !ok)
      return ok.error();
  if (auto ok = made->open_actors(s, watch, std::move(options)); !ok)
    return ok.error();
  if (auto ok = made->open_telemetry(s, watch); !ok)
    return ok.error();
  return made;
}

result<void> assembled_engine::open_local(const settings& s, watchdog& watch,
                                          bool with_packages) {
  sockets_ = std::make_unique<io_thread>();
  local_turns_ = watch.turns("local runs", sockets_->executor());
  auto opened
    = local_backend::open(sockets_->executor(), local_options_from(s));
  if (!opened)
    return std::move(opened).error().within(
      "open the local backend (set local.enabled = false to disable it)");
  local_ = std::move(*opened);
  local_runs_ = local_;
  if (!with_packages)
    return {};
  builder_ = std::make_shared<environment_builder>(local_,
                                                   environment_options_from(s));
  if (auto built = builder_->open(); !built)
    return std::move(built).error().within("open the package sets");
  packages_ = std::make_shared<environment_service>(builder_);
  local_runs_ = std::make_shared<environment_backend>(local_, builder_);
  return {};
}

result<void> assembled_engine::open_store_of(const settings& s) {
  auto opened = open_store(store_options_from(s));
  if (!opened)
    return std::move(opened).error().within("open " + s.engine.data_dir);
  store_ = std::make_shared<store>(std::move(*opened));
  configuration_ = make_stored_configuration(store_);
  return {};
}

result<void> assembled_engine::open_actors(const settings& s, watchdog& watch,
                                           assembly_options options) {
  auto o = engine_options_from(s);
  o.report = std::move(options.report);
  o.warn = std::move(options.warn);
  if (!o.report) {
    o.report = [](std::string_view line) { log::info(line); };
    o.warn = [](std::string_view line) { log::warning(line); };
  }
  o.configuration = configuration_;
  std::shared_ptr<lease_book> leases;
  if (store_) {
    o.journal = make_stored_journal(store_);
    leases = make_stored_leases(store_);
    o.sandboxes.store = store_->living_sandboxes;
  } else {
    leases = std::make_shared<memory_lease_book>();
  }
  o.publish_port = options.publish_port;
  if (options.keeps_files)
    o.kept_files = kept_files_
      = std::make_shared<kept_files>(kept_files_options{
        s.files.inline_bytes, s.files.kept_bytes, s.files.keep});
  o.deriver = local_;
  o.sockets = sockets_.get();
  if (local_runs_)
    o.backends.push_back(local_runs_);
  if (local_)
    o.sandboxes.places.push_back(
      {backend_kind::local,
       local_sandboxes::make(local_->strand(), local_->wardens(),
                             local_sandbox_options_from(s)),
       local_->strand(), s.sandbox.max,
       // Who wants one says so: commands without are begun faster.
       network_policy{network_mode::off, {}}});
  auto providers = open_providers::open(s, std::move(leases), o, watch);
  if (!providers)
    return std::move(providers).error().within("open the remote backends");
  providers_ = std::move(*providers);
  // What names no place goes where runs go that name none.
  std::ranges::stable_partition(o.sandboxes.places,
                                [&o](const sandbox_place& each) {
                                  return each.name == o.rules.standard_backend;
                                });
  if (!s.cluster.seeds.empty()) {
    auto nodes = peer_options_from(s);
    nodes.report = o.report;
    nodes.warn = o.warn ? o.warn : o.report;
    nodes.watch = &watch;
    auto met = peer_backend::open(std::move(nodes));
    if (!met)
      return std::move(met).error().within(
        "connect to the nodes of cluster.seeds");
    o.backends.push_back(std::move(*met));
  }
  if (o.links)
    o.links->watch = &watch;
  only_local_ = o.backends.size() == 1 && local_;
  auto opened = open_engine(std::move(o));
  if (!opened)
    return std::move(opened).error().within("open the engine");
  host_ = std::move(*opened);
  engine_answers_ = watch.answers(
    "the actors", [asked = &host_->engine()](std::function<void()> turned) {
      asked->health(
        [turned = std::move(turned)](result<engine_health>) { turned(); });
    });
  return {};
}

result<void> assembled_engine::open_telemetry(const settings& s,
                                              watchdog& watch) {
  if (s.telemetry.otlp_endpoint.empty())
    return {};
  auto options = exporter_options_from(s);
  options.watch = &watch;
  auto opened = net::span_exporter::open(std::move(options));
  if (!opened)
    return opened.error();
  exporter_ = std::move(*opened);
  traced_ = std::make_unique<net::traced_engine>(
    host_->engine(), s.telemetry.trace_sample_ratio,
    [to = exporter_.get()](net::span one) { to->add(std::move(one)); });
  return {};
}

// -- open ---------------------------------------------------------------------

engine& assembled_engine::engine() {
  if (traced_)
    return *traced_;
  return host_->engine();
}

result<void> assembled_engine::wait_until_ready() const {
  if (!only_local_)
    return {};
  if (auto ready = local_->wait_until_probed(); !ready)
    return std::move(ready).error().within("start the warden");
  return {};
}

void assembled_engine::wait_until_probed() const {
  if (local_)
    (void)local_->wait_until_probed();
}

std::string assembled_engine::metrics() const {
  return providers_->metrics() + (exporter_ ? exporter_->metrics() : "")
    + (store_ ? store_metrics(*store_) : "");
}

// -- stopping -----------------------------------------------------------------

void assembled_engine::drain(time_point until) {
  engine_answers_.stop(); // on its way out it may be slow to answer
  if (host_)
    host_->drain(until);
}

void assembled_engine::stop() {
  engine_answers_.stop();
  if (host_)
    host_->stop();
}

assembled_engine::~assembled_engine() {
  stop();
  traced_.reset();
  exporter_.reset(); // sends what is left
  host_.reset();
  providers_.reset();
  if (builder_)
    builder_->stop();
  if (local_runs_)
    local_runs_->stop();
  local_runs_.reset();
  packages_.reset();
  builder_.reset();
  local_.reset();
  local_turns_.stop();
}

} // namespace troupe
