#include "actors/engine/engine_host.hpp"

#include "actors/caf/actor_system.hpp"
#include "actors/cluster/link_listener.hpp"
#include "actors/cluster/node_identity.hpp"
#include "actors/engine/actor_engine.hpp"
#include "actors/engine/engine_internals.hpp"
#include "actors/engine/supervisor.hpp"
#include "actors/sandbox/gateway/sandbox_gateway.hpp"
#include "runtime/async/watchdog.hpp"
#include "storage/adapters/memory_stores.hpp"

#include <caf/io/middleman.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <sysexits.h>

#include <cstdlib>
#include <mutex>
#include <thread>

namespace troupe {

namespace {

/// What stopping may take beyond the drain before we give up on it.
constexpr auto patience_beyond_drain = std::chrono::seconds{10};

constexpr auto patience_at_start = std::chrono::seconds{30};

/// The gate's, to say that we are about to stop; it only forwards.
constexpr auto patience_for_announcement = std::chrono::seconds{1};

/// What another node may take to read its last answers and to hang up.
constexpr auto patience_for_hanging_up = std::chrono::seconds{2};

watchdog_options guarding(std::function<void(std::string_view)> report) {
  watchdog_options o;
  o.end = [report = std::move(report)](std::string_view why) {
    if (report)
      report(why);
    std::_Exit(EX_SOFTWARE);
  };
  return o;
}

/// What a process before us wrote down about sandboxes.
result<void> read_left_sandboxes(engine_context& c) {
  const auto& store = c.options.sandboxes.store;
  if (!store)
    return {};
  std::size_t unreadable = 0;
  auto left = store->load(unreadable);
  if (!left)
    return std::move(left).error().within("read the records of sandboxes");
  if (unreadable > 0)
    c.warn(std::to_string(unreadable)
           + " records of sandboxes cannot be read and are left alone");
  c.sandboxes->left = std::move(*left);
  return {};
}

class actor_engine_host final : public engine_host {
public:
  explicit actor_engine_host(engine_options options)
      : context_{std::make_shared<engine_context>(std::move(options))} {}

  ~actor_engine_host() override { stop(); }

  result<void> open();
  troupe::engine& engine() override { return *engine_; }
  sandbox_engine& sandboxes() override { return *sandboxes_; }
  void drain(time_point until) override {
    drained_by_ = until;
    refuse_runs();
  }
  std::size_t running() const override { return context_->runs.alive(); }
  void stop() override;
  std::uint16_t published_port() const override { return port_; }
  const context_ptr& context() const { return context_; }
  caf::actor_system* system() const { return system_.get(); }

private:
  result<void> publish();
  void step_all();
  void refuse_runs();
  void wait_for_runs();

  context_ptr context_;
  std::unique_ptr<system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  supervisor_actor supervisor_;
  std::unique_ptr<link_listener> link_listener_;
  std::unique_ptr<actor_engine> engine_;
  std::unique_ptr<sandbox_gateway> sandboxes_;
  std::uint16_t port_ = 0;
  std::optional<time_point> drained_by_;
  std::once_flag stopped_;
};

result<void> actor_engine_host::open() {
  const logger_released_at_end last;
  auto& c = *context_;
  // The context has the registry, and so outlives it.
  auto warn = [context = &c](std::string_view line) { context->warn(line); };
  auto registry
    = backend_registry::make(c.options.backends, c.options.breaker, warn);
  if (!registry)
    return registry.error();
  c.backends = std::move(*registry);
  auto lost = c.options.journal->mark_lost();
  if (!lost)
    return std::move(lost).error().within(
      "close records of an earlier process");
  if (*lost > 0)
    c.report("engine marked " + std::to_string(*lost)
             + " runs of an earlier process as lost");
  const bool with_network
    = c.options.publish_port != 0 || c.options.links.has_value();
  config_ = std::make_unique<system_config>(
    c.options.threads, with_network, c.options.sockets, c.options.stepped,
    (c.options.links ? c.options.links->beats : link_heartbeats{}).every);
  system_ = std::make_unique<caf::actor_system>(*config_);
  if (c.options.stepped)
    c.stepped_clock = &system_->clock();
  // Only the middleman makes a node's id.
  if (with_network && !has_random_node_id())
    return error{ec::internal,
                 "this node would share its id with others; "
                 "libcaf_core was linked in a way that hides "
                 "troupe's get_root_uuid"};
  c.router = std::make_unique<request_router>(*system_);
  c.sandboxes = std::make_shared<sandbox_services>(c.options.sandboxes);
  c.sandboxes->router = c.router.get();
  if (auto read = read_left_sandboxes(c); !read)
    return read;
  supervisor_ = system_->spawn(supervisor, context_);
  {
    // Its first answer comes after everybody has been started.
    caf::scoped_actor self{*system_};
    result<void> up;
    auto asked = self->request(supervisor_, patience_at_start, health_v);
    step_all();
    asked.receive([](const component_health&) {},
                  [&](const caf::error& e) {
                    up = from_caf(e).within("start the actors");
                  });
    if (!up)
      return up;
  }
  engine_ = std::make_unique<actor_engine>(context_, supervisor_);
  sandboxes_ = std::make_unique<sandbox_gateway>(context_, c.sandboxes);
  if (c.options.links) {
    auto gate = [context = context_.get()] {
      auto routes = context->routes.load();
      return routes ? routes->gate : gateway_actor{};
    };
    auto opened
      = link_listener::open(*system_, std::move(gate), *c.options.links,
                            [context = context_.get()](std::string_view line) {
                              context->warn(line);
                            });
    if (!opened)
      return opened.error();
    link_listener_ = std::move(*opened);
    port_ = link_listener_->port();
  }
  return c.options.publish_port != 0 ? publish() : result<void>{};
}

result<void> actor_engine_host::publish() {
  const auto& o = context_->options;
  // Once: if this gate dies, the door leads to the next one, this does not.
  auto port = system_->middleman().publish(context_->routes.load()->gate,
                                           o.publish_port,
                                           o.publish_address.c_str(), true);
  if (!port)
    return error{ec::unavailable,
                 "publish on " + o.publish_address + ":"
                   + std::to_string(o.publish_port) + ": "
                   + system_->render(port.error())};
  if (!link_listener_)
    port_ = *port;
  return {};
}

/// Whoever waits for actors that nobody moves moves them himself.
void actor_engine_host::step_all() {
  if (context_->options.stepped)
    static_cast<caf::scheduler::test_coordinator&>(system_->scheduler()).run();
}

/// Other nodes hear of it before the first of their runs is refused.
void actor_engine_host::refuse_runs() {
  if (context_->draining)
    return;
  const logger_released_at_end last;
  if (auto routes = system_ ? context_->routes.load() : nullptr;
      routes && routes->gate) {
    caf::scoped_actor self{*system_};
    auto asked = self->request(caf::actor_cast<caf::actor>(routes->gate),
                               patience_for_announcement, gone_v);
    step_all();
    asked.receive([](bool) {}, [](const caf::error&) {});
  }
  context_->draining = true;
}

void actor_engine_host::wait_for_runs() {
  using clock = std::chrono::steady_clock;
  const auto until
    = drained_by_.value_or(clock::now() + context_->options.drain_timeout);
  auto wait_while = [](auto unfinished, clock::time_point limit) {
    while (unfinished() && clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
  };
  wait_while([this] { return context_->runs.alive() > 0; }, until);
  // The last answers are on their way: who has them all hangs up.
  wait_while([this] { return context_->linked_nodes > 0; },
             std::min(until, clock::now() + patience_for_hanging_up));
}

void actor_engine_host::stop() {
  std::call_once(stopped_, [this] {
    refuse_runs();
    if (!system_)
      return;
    // An actor system that waits for a forgotten promise waits for ever.
    watchdog guard{guarding(context_->options.report)};
    auto in_time
      = guard.is_over("the stop of the engine",
                      context_->options.drain_timeout + patience_beyond_drain);
    guard.start();
    wait_for_runs();
    {
      // Everybody answers what they promised, the ledger writes it down.
      caf::scoped_actor self{*system_};
      if (supervisor_) {
        self->send_exit(supervisor_, caf::exit_reason::user_shutdown);
        step_all();
        self->wait_for(supervisor_);
      }
    }
    link_listener_.reset();
    if (context_->router)
      context_->router->shutdown();
    if (engine_)
      engine_->close();
    context_->routes.store(nullptr);
    supervisor_ = supervisor_actor{};
    if (context_->sandboxes) {
      context_->sandboxes->index.clear();
      context_->sandboxes->records.flush();
    }
    for (const auto& backend : context_->options.backends)
      backend->stop();
    context_->background.join();
    context_->stepped_clock = nullptr;
    // Without the router, which whoever still submits may be looking at: it
    // refuses, and goes with the context.
    system_.reset();
  });
}

} // namespace

context_ptr context_of(engine_host& opened) {
  return static_cast<actor_engine_host&>(opened).context();
}

caf::actor_system* system_of(engine_host& opened) {
  return static_cast<actor_engine_host&>(opened).system();
}

result<std::unique_ptr<engine_host>> open_engine(engine_options options) {
  if (options.threads == 0)
    options.threads = default_thread_count();
  if (options.dispatchers == 0)
    options.dispatchers = options.threads;
  if (options.executors_per_backend == 0)
    options.executors_per_backend = options.threads;
  if (!options.configuration)
    options.configuration = make_memory_configuration();
  if (!options.journal)
    options.journal = make_memory_journal();
  try {
    auto opened = std::make_unique<actor_engine_host>(std::move(options));
    if (auto ok = opened->open(); !ok)
      return ok.error();
    return std::unique_ptr<engine_host>{std::move(opened)};
  } catch (const std::exception& e) {
    return error{ec::internal, std::string{"open the engine: "} + e.what()};
  }
}

} // namespace troupe
