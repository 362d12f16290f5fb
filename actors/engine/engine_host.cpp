#include "actors/engine/engine_host.hpp"

#include "actors/caf/actor_system.hpp"
#include "actors/cluster/link_listener.hpp"
#include "actors/cluster/node_identity.hpp"
#include "actors/engine/actor_engine.hpp"
#include "actors/engine/engine_internals.hpp"
#include "actors/engine/supervisor.hpp"
#include "runtime/async/watchdog.hpp"
#include "storage/adapters/stored.hpp"

#include <caf/io/middleman.hpp>

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

class host final : public engine_host {
public:
  explicit host(engine_options options)
      : context_{std::make_shared<engine_context>(std::move(options))} {}

  ~host() override { stop(); }

  result<void> open();
  troupe::engine& engine() override { return *gateway_; }
  void drain(time_point until) override {
    drained_by_ = until;
    refuse_runs();
  }
  void stop() override;
  std::uint16_t published_port() const override { return port_; }
  const context_ptr& context() const { return context_; }
  caf::actor_system* system() const { return system_.get(); }

private:
  result<void> publish();
  void refuse_runs();
  void wait_for_runs();

  context_ptr context_;
  std::unique_ptr<system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  supervisor_actor supervisor_;
  std::unique_ptr<door> door_;
  std::unique_ptr<gateway> gateway_;
  std::uint16_t port_ = 0;
  std::optional<time_point> drained_by_;
  std::once_flag stopped_;
};

result<void> host::open() {
  const logger_released_at_end last;
  auto& c = *context_;
  // The context has the board, and so outlives it.
  auto warn = [context = &c](std::string_view line) { context->warn(line); };
  auto board
    = backend_registry::make(c.options.backends, c.options.breaker, warn);
  if (!board)
    return board.error();
  c.board = std::move(*board);
  auto store = c.options.configuration;
  auto books = c.options.books;
  if (c.options.store && (!store || !books)) {
    auto opened = open_store(*c.options.store);
    if (!opened)
      return std::move(opened).error().within("open the store");
    auto shared = std::make_shared<troupe::store>(std::move(*opened));
    if (!store)
      store = make_stored_configuration(shared);
    if (!books)
      books = make_stored_journal(shared);
  }
  if (!store)
    store = make_memory_configuration();
  if (!books)
    books = make_memory_journal();
  auto picture = store->load();
  if (!picture)
    return std::move(picture).error().within("load the configuration");
  c.config.store(std::move(*picture));
  auto lost = books->mark_lost();
  if (!lost)
    return std::move(lost).error().within(
      "close records of an earlier process");
  if (*lost > 0)
    c.report("engine marked " + std::to_string(*lost)
             + " runs of an earlier process as lost");
  const bool with_network
    = c.options.publish_port != 0 || c.options.door.has_value();
  config_ = std::make_unique<system_config>(c.options.threads, with_network,
                                            c.options.sockets);
  system_ = std::make_unique<caf::actor_system>(*config_);
  // Only the middleman makes a node's id.
  if (with_network && !has_random_node_id())
    return error{ec::internal,
                 "this node would share its id with others; "
                 "libcaf_core was linked in a way that hides "
                 "troupe's get_root_uuid"};
  c.router = std::make_unique<request_router>(*system_);
  supervisor_
    = system_->spawn(supervisor, context_, std::move(store), std::move(books));
  {
    // Its first answer comes after everybody has been started.
    caf::scoped_actor self{*system_};
    result<void> up;
    self->request(supervisor_, patience_at_start, health_v)
      .receive([](const component_health&) {},
               [&](const caf::error& e) {
                 up = from_caf(e).within("start the actors");
               });
    if (!up)
      return up;
  }
  gateway_ = std::make_unique<gateway>(context_, supervisor_);
  if (c.options.door) {
    auto gate = [context = context_.get()] {
      auto routes = context->routes.load();
      return routes ? routes->gate : gateway_actor{};
    };
    auto opened = door::open(*system_, std::move(gate), *c.options.door,
                             [context = context_.get()](std::string_view line) {
                               context->warn(line);
                             });
    if (!opened)
      return opened.error();
    door_ = std::move(*opened);
    port_ = door_->port();
  }
  return c.options.publish_port != 0 ? publish() : result<void>{};
}

result<void> host::publish() {
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
  if (!door_)
    port_ = *port;
  return {};
}

/// Other nodes hear of it before the first of their runs is refused.
void host::refuse_runs() {
  if (context_->draining)
    return;
  const logger_released_at_end last;
  if (auto routes = system_ ? context_->routes.load() : nullptr;
      routes && routes->gate) {
    caf::scoped_actor self{*system_};
    self
      ->request(caf::actor_cast<caf::actor>(routes->gate),
                patience_for_announcement, gone_v)
      .receive([](bool) {}, [](const caf::error&) {});
  }
  context_->draining = true;
}

void host::wait_for_runs() {
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

void host::stop() {
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
        self->wait_for(supervisor_);
      }
    }
    door_.reset();
    if (context_->router)
      context_->router->shutdown();
    if (gateway_)
      gateway_->close();
    context_->routes.store(nullptr);
    supervisor_ = supervisor_actor{};
    for (const auto& backend : context_->options.backends)
      backend->stop();
    context_->background.join();
    // Without the router, which whoever still submits may be looking at: it
    // refuses, and goes with the context.
    system_.reset();
  });
}

} // namespace

context_ptr context_of(engine_host& opened) {
  return static_cast<host&>(opened).context();
}

caf::actor_system* system_of(engine_host& opened) {
  return static_cast<host&>(opened).system();
}

result<std::unique_ptr<engine_host>> open_engine(engine_options options) {
  if (options.threads == 0)
    options.threads = usual_threads();
  if (options.dispatchers == 0)
    options.dispatchers = options.threads;
  if (options.executors_per_backend == 0)
    options.executors_per_backend = options.threads;
  try {
    auto opened = std::make_unique<host>(std::move(options));
    if (auto ok = opened->open(); !ok)
      return ok.error();
    return std::unique_ptr<engine_host>{std::move(opened)};
  } catch (const std::exception& e) {
    return error{ec::internal, std::string{"open the engine: "} + e.what()};
  }
}

} // namespace troupe
