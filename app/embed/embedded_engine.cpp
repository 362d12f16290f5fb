#include "actors/engine/engine_host.hpp"
#include "app/embed/actor_access.hpp"
#include "app/embed/public_conversions.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/base/process_hardening.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/local/warden/protocol.hpp"
#include "runtime/packages/backend_with_packages.hpp"

#include <chrono>
#include <cstring>
#include <thread>

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
    carry_(message_from(*run), std::move(done));
  }

private:
  const api::embedded_options::backend_fn carry_;
  const std::function<void(std::string_view)> end_;
};

/// Whoever opens an engine wants to use it: the warden takes a moment to start.
result<void> wait_until_ready(const backend& b) {
  const auto until
    = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  auto ready = b.ready();
  while (!ready && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    ready = b.ready();
  }
  if (!ready)
    return ready.error().within("start the warden");
  return {};
}

/// This machine's sandboxes with all that they stand on.
struct local_house {
  io_thread sockets;
  std::shared_ptr<local_backend> bare;
  std::shared_ptr<environment_builder> builder;
  std::shared_ptr<backend> complete;

  ~local_house() {
    if (bare)
      bare->stop();
  }

  result<void> open(const std::string& data_directory) {
    auto opened = local_backend::open(sockets.executor(), {});
    if (!opened)
      return std::move(opened).error().within("open the local backend");
    bare = std::move(*opened);
    if (auto ok = wait_until_ready(*bare); !ok)
      return ok;
    if (data_directory.empty()) {
      complete = bare; // without a place for packages
      return {};
    }
    environment_options where;
    where.root = std::filesystem::path{data_directory} / "environments";
    where.use(find_interpreters({}));
    builder = std::make_shared<environment_builder>(bare, where);
    if (auto ok = builder->open(); !ok)
      return std::move(ok).error().within("open the package sets");
    complete = std::make_shared<environment_backend>(bare, builder);
    return {};
  }
};

class embedded final : public api::engine, public actor_access {
public:
  using api::engine::submit;

  ~embedded() override { stop(); }

  result<void> open(api::embedded_options o) {
    if (!o.may_be_dumped)
      if (auto ok = keep_memory_private(); !ok)
        return ok;
    engine_options options;
    options.threads = static_cast<std::uint32_t>(o.threads);
    options.publish_port = o.publish_port;
    if (!o.listen.empty())
      options.door = link_options{o.listen, {o.certificate, o.key, o.ca}};
    options.drain_timeout = o.drain_timeout;
    options.report = std::move(o.report);
    if (!o.data_directory.empty()) {
      options.store.emplace();
      options.store->data_directory = o.data_directory;
    }
    if (o.backend) {
      options.backends.push_back(std::make_shared<carrier_backend>(
        std::move(o.backend), std::move(o.cancel_run)));
    } else {
      if (auto ok = house_.open(o.data_directory); !ok)
        return ok;
      options.backends.push_back(house_.complete);
      options.sockets = &house_.sockets;
    }
    auto opened = open_engine(std::move(options));
    if (!opened)
      return opened.error();
    host_ = std::move(*opened);
    return {};
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
    host_->engine().submit(caller_for(m.organization), std::move(*request),
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
    host_->engine().submit_detached(caller_for(m.organization),
                                    std::move(*request), std::move(finish));
    return id;
  }

  void find(std::string_view run, std::string_view organization,
            api::on_record found) override {
    auto finish = [found = std::move(found)](result<run_record> r) {
      found(record_from(std::move(r)));
    };
    host_->engine().find_run(caller_for(organization), run_id{std::string{run}},
                             std::move(finish));
  }

  void cancel(std::string_view run, std::string_view organization) override {
    host_->engine().cancel(caller_for(organization), run_id{std::string{run}},
                           [](result<run_record>) {});
  }

  void stop() override {
    if (host_)
      host_->stop();
  }

  api::actor_handle handle() override { return handle_of(*host_); }

private:
  local_house house_;
  std::unique_ptr<engine_host> host_; // goes first
};

} // namespace

namespace api {

std::optional<int> begin(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], warden::command) == 0)
    return warden::warden_main(argc, argv);
  return std::nullopt;
}

opened open_embedded(embedded_options options) {
  auto e = std::make_unique<embedded>();
  if (auto ok = e->open(std::move(options)); !ok)
    return failure_from(ok.error());
  return std::unique_ptr<engine>{std::move(e)};
}

} // namespace api

} // namespace troupe
