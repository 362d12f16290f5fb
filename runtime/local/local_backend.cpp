#include "runtime/local/local_backend.hpp"

#include "runtime/local/abi.hpp"
#include "runtime/local/code_cache.hpp"
#include "runtime/local/cold_carrier.hpp"
#include "runtime/local/interpreters.hpp"
#include "runtime/local/local_run.hpp"
#include "runtime/local/plain_path.hpp"
#include "runtime/local/schema_run.hpp"
#include "runtime/local/warden_grounds.hpp"
#include "runtime/local/zygote/slot_carrier.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <unordered_map>

namespace troupe {

namespace asio = boost::asio;

using local_run_ptr = std::shared_ptr<local_run>;

/// Everything below runs on `strand`, except what says otherwise.
struct local_backend::impl : std::enable_shared_from_this<impl> {
  impl(asio::any_io_executor executor, local_options opts,
       warden::instance made)
      : strand{asio::make_strand(std::move(executor))}, options{std::move(
                                                          opts)},
        instance{std::move(made)}, cold{std::make_shared<cold_carrier>(
                                     strand, options, instance)} {}

  result<void> open();
  void warm_up();
  void accept(local_run_ptr run);
  void pump();
  void begin(const local_run_ptr& run);
  void compile(const prepared_run& like, std::string key);
  void forget(const run_id& id);
  void cancel(const run_id& id, exit_reason why);
  void stop(std::shared_ptr<std::promise<void>> done);
  void close_if_idle();
  result<void> admit(const prepared_run& run) const;
  script::program_paths paths_for(const prepared_run& run) const;
  std::vector<warden::start_order::shown_path>
  shown_for(const prepared_run& run) const;

  asio::any_io_executor strand;
  local_options options;
  warden::instance instance;
  std::shared_ptr<cold_carrier> cold;
  std::vector<std::unique_ptr<run_carrier>> carriers; // before the cold one
  zygote::slot_carrier* slots = nullptr;              // of them: Python's
  zygote::slot_carrier* node_slots = nullptr;         // Node's
  interpreters found;
  code_cache codes;
  std::deque<local_run_ptr> waiting;
  std::unordered_map<std::string, local_run_ptr> running;
  bool stopping = false;
  bool closing = false;
  std::vector<std::shared_ptr<std::promise<void>>> stop_waiters;
  std::atomic<bool> stopped{false};

  mutable std::mutex probe_mutex; // what any thread may ask for
  mutable std::condition_variable probe_done;
  bool has_probed = false;
  isolation::probe_report probed;
  std::string trouble = "the warden is starting";
};

namespace {

std::string runner_directory(const warden::instance& instance) {
  return instance.directory() + "/runners";
}

error refusal(ec code, std::string text,
              std::chrono::milliseconds retry_after = {}) {
  return {code, std::move(text), {}, retry_after};
}

error stopping_error() {
  return refusal(ec::unavailable, "the local backend is stopping");
}

} // namespace

// -- opening and closing

result<std::shared_ptr<local_backend>>
local_backend::open(asio::any_io_executor executor, local_options options) {
  if (options.state_dir.empty())
    options.state_dir = warden::default_state_dir();
  auto instance = warden::instance::claim(options.state_dir);
  if (!instance)
    return instance.error();
  if (auto written = script::install_runners(runner_directory(*instance));
      !written)
    return written.error().within("install the runner programs");
  auto self = std::make_shared<impl>(std::move(executor), std::move(options),
                                     std::move(*instance));
  if (auto opened = self->open(); !opened)
    return opened.error();
  return std::shared_ptr<local_backend>{new local_backend{std::move(self)}};
}

result<void> local_backend::impl::open() {
  found = find_interpreters(options);
  asio::post(strand, [self = shared_from_this()] {
    self->cold->open([self](result<isolation::probe_report> report) {
      std::lock_guard lock{self->probe_mutex};
      if (report) {
        self->probed = *report;
        self->trouble.clear();
        self->warm_up();
      } else {
        self->trouble = report.error().text;
      }
      self->has_probed = true;
      self->probe_done.notify_all();
      asio::post(self->strand, [self] { self->pump(); });
    });
  });
  return {};
}

/// Warm interpreters, as soon as there is a warden to start them. Without
/// them every run starts cold.
void local_backend::impl::warm_up() {
  if (!options.zygote.enabled || slots)
    return;
  const auto add = [this](zygote::family family, const interpreter& host,
                          zygote::slot_carrier*& place) {
    auto made = make_warm_carrier(strand, options.zygote, family, host.path,
                                  instance.directory(),
                                  runner_directory(instance), cold);
    if (!made)
      return;
    place = made.get();
    carriers.push_back(std::move(made));
  };
  add(zygote::family::python, found.python, slots);
  if (options.zygote.node)
    add(zygote::family::node, found.node, node_slots);
}

local_backend::local_backend(std::shared_ptr<impl> self)
    : impl_{std::move(self)} {}

local_backend::~local_backend() {
  stop();
}

void local_backend::stop() {
  if (impl_->stopped.exchange(true))
    return;
  auto done = std::make_shared<std::promise<void>>();
  auto finished = done->get_future();
  asio::post(impl_->strand,
             [self = impl_, done] { self->stop(std::move(done)); });
  // An executor that no longer runs cannot end anything in order; then the
  // warden sees our end of the socket close and cleans up by itself.
  finished.wait_for(2 * impl_->options.kill_grace);
}

void local_backend::impl::stop(std::shared_ptr<std::promise<void>> done) {
  stopping = true;
  stop_waiters.push_back(std::move(done));
  for (auto& run : std::exchange(waiting, {}))
    run->fail(stopping_error());
  for (auto& carrier : carriers)
    carrier->stop();
  auto all = running; // ending may change the map
  for (auto& [id, run] : all)
    run->end(exit_reason::cancelled);
  close_if_idle();
}

void local_backend::impl::close_if_idle() {
  if (!stopping || closing || !running.empty())
    return;
  closing = true;
  cold->close([self = shared_from_this()] {
    for (auto& waiter : std::exchange(self->stop_waiters, {}))
      waiter->set_value();
  });
}

// -- from any thread

void local_backend::start(prepared_run_ptr run, run_observer_ptr observer) {
  auto made = std::make_shared<local_run>(impl_->strand, std::move(run),
                                          std::move(observer),
                                          impl_->options.end_on_output_limit);
  asio::post(impl_->strand, [self = impl_, made = std::move(made)]() mutable {
    self->accept(std::move(made));
  });
}

void local_backend::derive(language lang, std::string source,
                           std::string function, handler<derived_schema> done) {
  auto made
    = make_schema_run(impl_->strand, impl_->options.isolation, lang,
                      std::move(source), std::move(function), std::move(done));
  asio::post(impl_->strand, [self = impl_, made = std::move(made)]() mutable {
    self->accept(std::move(made));
  });
}

void local_backend::cancel(const run_id& id, exit_reason reason) {
  asio::post(impl_->strand,
             [self = impl_, id, reason] { self->cancel(id, reason); });
}

result<void> local_backend::ready() const {
  std::lock_guard lock{impl_->probe_mutex};
  auto text = impl_->trouble;
  if (text.empty() && impl_->options.isolation != isolation_level::best_effort
      && impl_->options.isolation != isolation_level::off)
    text = impl_->probed.missing_core();
  if (text.empty())
    return {};
  return refusal(ec::unavailable, std::move(text));
}

result<void> local_backend::wait_until_probed() const {
  {
    std::unique_lock lock{impl_->probe_mutex};
    impl_->probe_done.wait(lock, [&] { return impl_->has_probed; });
  }
  return ready();
}

isolation::probe_report local_backend::probe() const {
  std::lock_guard lock{impl_->probe_mutex};
  return impl_->probed;
}

int local_backend::warden_pid() const {
  std::promise<int> answer;
  auto pid = answer.get_future();
  asio::dispatch(impl_->strand,
                 [&] { answer.set_value(impl_->cold->warden_pid()); });
  return pid.get();
}

zygote::slot_counts local_backend::slots(zygote::family of) const {
  std::promise<zygote::slot_counts> answer;
  auto counts = answer.get_future();
  asio::dispatch(impl_->strand, [&] {
    const auto* carrier
      = of == zygote::family::node ? impl_->node_slots : impl_->slots;
    answer.set_value(carrier ? carrier->counts() : zygote::slot_counts{});
  });
  return counts.get();
}

const std::string& local_backend::instance_directory() const {
  return impl_->instance.directory();
}

void local_backend::add_carrier(std::unique_ptr<run_carrier> carrier) {
  asio::post(impl_->strand,
             [self = impl_, carrier = std::move(carrier)]() mutable {
               self->carriers.push_back(std::move(carrier));
             });
}

boost::asio::any_io_executor local_backend::strand() const {
  return impl_->strand;
}

// -- on the strand

result<void> local_backend::impl::admit(const prepared_run& run) const {
  if (stopping)
    return stopping_error();
  if (running.contains(run.id.str()))
    return refusal(ec::conflict, "run " + run.id.str() + " runs already");
  if (waiting.size() >= options.max_queued)
    return refusal(ec::exhausted,
                   "the local queue of " + std::to_string(options.max_queued)
                     + " runs is full",
                   std::chrono::seconds{1});
  if (run.mounts.size() > max_mounts)
    return bad_field("/mounts", "more than " + std::to_string(max_mounts));
  for (const auto& m : run.mounts)
    if (!is_plain_path(m.host) || !is_plain_path(m.inside))
      return bad_field("/mounts", "a path is not absolute and plain");
  if (!run.working_dir.empty() && !is_plain_path(run.working_dir))
    return bad_field("/working_dir", "the path is not absolute and plain");
  return {};
}

void local_backend::impl::accept(local_run_ptr run) {
  if (auto fine = admit(run->request()); !fine) {
    run->fail(fine.error());
    return;
  }
  waiting.push_back(std::move(run));
  pump();
}

void local_backend::impl::pump() {
  // The first runs wait for the first warden, whatever it will say.
  bool starting = false;
  {
    std::lock_guard lock{probe_mutex};
    starting = !has_probed;
  }
  while (!starting && !waiting.empty()
         && running.size() < options.max_running) {
    auto run = std::move(waiting.front());
    waiting.pop_front();
    begin(run);
  }
}

void local_backend::impl::begin(const local_run_ptr& run) {
  const auto& request = run->request();
  if (request.deadline != local_run::clock::time_point{}
      && request.deadline <= local_run::clock::now()) {
    run->finish_unstarted(exit_reason::wall_timeout,
                          "its deadline passed in the queue");
    return;
  }
  const bool has_source
    = request.kind != run_kind::command && !run->only_reads();
  const auto key = has_source ? code_cache::key_of(request) : std::string{};
  auto what = run->prepare(paths_for(request), shown_for(request),
                           has_source ? codes.find(key) : std::string_view{});
  if (!what) {
    run->fail(what.error());
    return;
  }
  running.emplace(request.id.str(), run);
  run_carrier* carrier = cold.get();
  for (auto& faster : carriers)
    if (faster->takes(*what)) {
      carrier = faster.get();
      break;
    }
  run->carry(
    *carrier, std::move(*what),
    [self = shared_from_this(), id = request.id] { self->forget(id); });
  if (has_source && codes.wants(key))
    compile(request, key);
}

void local_backend::impl::compile(const prepared_run& like, std::string key) {
  auto run = std::make_shared<local_run>(strand, compile_request(like),
                                         silent_observer(), false);
  run->only_compile(
    [weak = weak_from_this(), key = std::move(key)](std::string answer) {
      auto self = weak.lock();
      if (!self)
        return;
      auto code = script::parse_compiled(answer);
      self->codes.put(key, code ? std::move(*code) : std::string{});
    });
  accept(std::move(run));
}

void local_backend::impl::forget(const run_id& id) {
  running.erase(id.str());
  // Not from here: `begin` may be below us on the stack.
  asio::post(strand, [self = shared_from_this()] {
    self->pump();
    self->close_if_idle();
  });
}

void local_backend::impl::cancel(const run_id& id, exit_reason why) {
  if (auto i = running.find(id.str()); i != running.end()) {
    i->second->end(why);
    return;
  }
  auto i = std::ranges::find_if(
    waiting, [&](const auto& run) { return run->request().id == id; });
  if (i == waiting.end())
    return;
  auto run = std::move(*i);
  waiting.erase(i);
  run->finish_unstarted(why, "ended in the queue");
}

script::program_paths
local_backend::impl::paths_for(const prepared_run& run) const {
  script::program_paths paths;
  paths.python = found.python.path;
  paths.node = found.node.path;
  paths.shell = options.shell;
  // Without a private tree the host's own path is the only one.
  paths.runners = run.isolation == isolation_level::off
    ? runner_directory(instance)
    : std::string{abi::runners};
  return paths;
}

std::vector<warden::start_order::shown_path>
local_backend::impl::shown_for(const prepared_run& run) const {
  std::vector<warden::start_order::shown_path> shown;
  if (run.isolation == isolation_level::off)
    return shown;
  shown.push_back({runner_directory(instance), abi::runners, false});
  for (const auto& path : options.read_only_paths)
    shown.push_back({path, path, false});
  for (const auto& interpreter : {found.python, found.node})
    if (!interpreter.prefix.empty())
      shown.push_back({interpreter.prefix, interpreter.prefix, false});
  for (const auto& m : run.mounts)
    shown.push_back({m.host, m.inside, m.writable});
  return shown;
}

} // namespace troupe
