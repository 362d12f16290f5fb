#include "app/assembly/assembled_engine.hpp"
#include "app/assembly/options_from_settings.hpp"
#include "app/embed/actor_access.hpp"
#include "app/embed/public_conversions.hpp"
#include "app/embed/stored_items.hpp"
#include "runtime/base/process_hardening.hpp"
#include "runtime/engine/request_for.hpp"
#include "runtime/local/warden/protocol.hpp"
#include "runtime/settings/load.hpp"

#include <atomic>
#include <cstring>
#include <optional>

namespace troupe {

namespace {

/// Somebody else's way of carrying out runs.
class carrier_backend final : public backend {
public:
  carrier_backend(api::embedded_options::backend_fn carry,
                  std::function<void(std::string_view)> end)
      : carry_{std::move(carry)}, end_{std::move(end)} {}

  backend_kind kind() const override { return backend_kind::local; }
  result<void> ready() const override { return {}; }
  void cancel(const run_id& id, exit_reason) override {
    if (end_)
      end_(id.str());
  }
  void stop() override {}

  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    observer->started();
    auto done = [id = run->id, observer](api::answer a) {
      observer->finished({result_from(a, id), true});
    };
    carry_(message_from(request_for(*run)), std::move(done));
  }

private:
  const api::embedded_options::backend_fn carry_;
  const std::function<void(std::string_view)> end_;
};

/// Groups of settings that an engine without HTTP and a log has no use for.
constexpr std::string_view groups_of_serve[] = {"compat", "http", "log"};

result<void> refuse_settings_of_serve(const api::embedded_options& o) {
  for (const auto& [path, text] : o.settings)
    for (auto group : groups_of_serve)
      if (path.starts_with(std::string{group} + "."))
        return error{ec::invalid_request,
                     path
                       + " is for `troupe serve`: an engine in a program "
                         "serves no HTTP and writes no log; leave it out"};
  return {};
}

/// The file, what is named beside it, and the other members on top.
result<configuration> settings_of(const api::embedded_options& o) {
  if (auto ok = refuse_settings_of_serve(o); !ok)
    return ok.error();
  settings_sources from;
  from.standard_files.clear();
  from.file = o.settings_file;
  from.program = o.settings;
  auto loaded = load_settings(from);
  if (!loaded)
    return loaded.error();
  auto& s = loaded->values;
  if (!o.data_directory.empty())
    s.engine.data_dir = o.data_directory;
  if (o.threads != 0)
    s.engine.threads = static_cast<std::uint32_t>(o.threads);
  if (o.drain_timeout != api::embedded_options{}.drain_timeout)
    s.engine.drain_timeout = o.drain_timeout;
  if (!o.listen.empty()) {
    s.cluster.listen = o.listen;
    s.cluster.certificate = o.certificate;
    s.cluster.key = o.key;
    s.cluster.ca = o.ca;
  }
  // What is inside of a program does not end it, unless it was told to.
  if (!loaded->origins.contains("watchdog.exit-after"))
    s.watchdog.exit_after = {};
  return loaded;
}

watchdog_options watchdog_options_from(const settings& s) {
  watchdog_options o;
  o.warn_after = s.watchdog.warn_after;
  o.end_after = s.watchdog.exit_after;
  return o;
}

/// Whether `begin` was called, so that a second process of this program would
/// be the warden, and not open an engine of its own.
std::atomic<bool> main_has_begun{false};

class embedded_engine final : public api::engine, public actor_access {
public:
  using api::engine::submit;

  ~embedded_engine() override { stop(); }

  result<void> open(api::embedded_options o) {
    if (!o.may_be_dumped)
      if (auto ok = keep_memory_private(); !ok)
        return ok;
    auto loaded = settings_of(o);
    if (!loaded)
      return loaded.error();
    if (!o.backend && loaded->values.local.enabled && !main_has_begun)
      return bad_request(
        "main must begin with: if (auto code = troupe::api::begin(argc, argv)) "
        "return *code; this program is started once more as the warden of its "
        "sandboxes");
    if (o.report)
      for (const auto& warning : loaded->warnings)
        o.report(warning);
    assembly_options options;
    options.in_memory = o.data_directory.empty()
      && !loaded->origins.contains("engine.data-dir");
    options.publish_port = o.publish_port;
    options.report = std::move(o.report);
    if (o.backend)
      options.local = std::make_shared<carrier_backend>(
        std::move(o.backend), std::move(o.cancel_run));
    defaults_ = config_defaults_from(loaded->values);
    watch_.emplace(watchdog_options_from(loaded->values));
    watch_->start();
    auto opened
      = assembled_engine::open(loaded->values, *watch_, std::move(options));
    if (!opened)
      return opened.error();
    engine_ = std::move(*opened);
    return engine_->wait_until_ready();
  }

  std::string submit(api::message m, api::on_reply done) override {
    return submit(std::move(m), std::move(done), {});
  }

  std::string submit(api::message m, api::on_reply done,
                     api::on_event events) override {
    auto request = request_from(m);
    if (!request) {
      done(failure_from(request.error()));
      return {};
    }
    auto id = request->id.str();
    auto finish
      = [done = std::move(done)](result<std::shared_ptr<const run_result>> r) {
          done(reply_from(r));
        };
    event_sink sink;
    if (events)
      sink = [events = std::move(events)](const run_event& e) {
        if (e.kind != run_event_kind::end)
          events(event_from(e));
        return true;
      };
    engine_->engine().submit(caller_for(m.organization), std::move(*request),
                             std::move(finish), std::move(sink));
    return id;
  }

  std::string start(api::message m, api::on_record accepted) override {
    auto request = request_from(m);
    if (!request) {
      accepted(failure_from(request.error()));
      return {};
    }
    auto id = request->id.str();
    auto finish = [accepted = std::move(accepted)](result<run_record> r) {
      accepted(record_from(std::move(r)));
    };
    engine_->engine().submit_detached(caller_for(m.organization),
                                      std::move(*request), std::move(finish));
    return id;
  }

  void find(std::string_view run, std::string_view organization,
            api::on_record found) override {
    auto finish = [found = std::move(found)](result<run_record> r) {
      found(record_from(std::move(r)));
    };
    engine_->engine().find_run(caller_for(organization),
                               run_id{std::string{run}}, std::move(finish));
  }

  void cancel(std::string_view run, std::string_view organization) override {
    engine_->engine().cancel(caller_for(organization), run_id{std::string{run}},
                             [](result<run_record>) {});
  }

  void stop() override {
    if (engine_)
      engine_->stop();
  }

  std::future<api::stored> put_tool(api::tool what,
                                    std::string organization) override {
    return put_tool_of(core(), caller_for(organization), what);
  }

  std::future<api::stored> delete_tool(std::string name,
                                       std::string organization) override {
    return delete_tool_of(core(), caller_for(organization), name);
  }

  std::future<api::stored> set_variable(std::string name, std::string value,
                                        std::string backend,
                                        std::string organization) override {
    return set_variable_of(core(), caller_for(organization), backend,
                           std::move(name), std::move(value));
  }

  std::future<api::stored> delete_variable(std::string name,
                                           std::string backend,
                                           std::string organization) override {
    return delete_variable_of(core(), caller_for(organization), backend, name);
  }

  std::future<api::stored> put_config(std::string backend, std::string config,
                                      std::string organization) override {
    return put_config_of(core(), caller_for(organization), backend, config,
                         defaults_);
  }

  api::actor_handle handle() override { return handle_of(engine_->actors()); }

private:
  troupe::engine& core() { return engine_->engine(); }

  config_defaults defaults_;
  std::optional<watchdog> watch_;
  std::unique_ptr<assembled_engine> engine_; // goes first
};

} // namespace

namespace api {

std::optional<int> begin(int argc, char** argv) {
  main_has_begun = true;
  if (argc > 1 && std::strcmp(argv[1], warden::command) == 0)
    return warden::warden_main(argc, argv);
  return std::nullopt;
}

opened open_embedded(embedded_options options) {
  auto e = std::make_unique<embedded_engine>();
  if (auto ok = e->open(std::move(options)); !ok)
    return failure_from(ok.error());
  return std::unique_ptr<engine>{std::move(e)};
}

} // namespace api

} // namespace troupe
