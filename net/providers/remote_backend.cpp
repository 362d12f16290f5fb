#include "net/providers/remote_backend.hpp"

#include "net/providers/remote_run.hpp"
#include "runtime/frame/keyed_frame.hpp"
#include "runtime/model/codec.hpp"
#include "runtime/script/program.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <condition_variable>
#include <set>
#include <unordered_map>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t installer_tail_bytes = 4'096;

error fail(ec code, std::string text) {
  return {code, std::move(text), {}, {}};
}

/// What to run before the tool: one installer call per language, every
/// requirement an argument of its own.
std::vector<std::vector<std::string>> installers(const prepared_run& run) {
  std::vector<std::vector<std::string>> out;
  auto shell = run.kind == run_kind::command;
  if (!run.pip_requirements.empty()
      && (shell || run.lang == language::python)) {
    std::vector<std::string> pip{"python3",    "-m",
                                 "pip",        "install",
                                 "--no-input", "--disable-pip-version-check",
                                 "--"};
    for (const auto& r : run.pip_requirements)
      pip.push_back(to_string(r));
    out.push_back(std::move(pip));
  }
  if (!run.npm_requirements.empty()
      && (shell || run.lang != language::python)) {
    std::vector<std::string> npm{"npm",       "install",          "--no-audit",
                                 "--no-fund", "--ignore-scripts", "--"};
    for (const auto& r : run.npm_requirements)
      npm.push_back(to_string(r));
    out.push_back(std::move(npm));
  }
  return out;
}

command_request command_of(const prepared_run& run) {
  command_request c;
  c.argv = run.argv;
  if (c.argv.empty())
    c.argv = {"/bin/sh", "-c", run.command};
  c.input = run.stdin_text;
  return c;
}

} // namespace

class remote_backend::impl : public std::enable_shared_from_this<impl> {
public:
  impl(std::shared_ptr<provider> p, std::shared_ptr<lease_book> l,
       asio::any_io_executor ex, remote_options o)
      : where{std::move(p)}, leases{std::move(l)}, executor{std::move(ex)},
        options{o} {}

  void accept(prepared_run_ptr run, run_observer_ptr observer);
  void cancel(const run_id& id, exit_reason reason);
  void stop_and_wait();
  asio::awaitable<result<std::vector<provider::tagged>>>
  reconcile(bool dry_run);

  std::shared_ptr<provider> where;
  std::shared_ptr<lease_book> leases;
  asio::any_io_executor executor;
  remote_options options;
  std::atomic<std::size_t> running{0};
  std::atomic<bool> stopped{false};

private:
  using run_ptr = std::shared_ptr<remote_run>;

  asio::awaitable<void> carry_out(run_ptr r);
  asio::awaitable<run_outcome> in_sandbox(run_ptr r, const remote_sandbox& box);
  asio::awaitable<result<void>> install(run_ptr r, const remote_sandbox& box);
  asio::awaitable<void> wait_for_turn(run_ptr r);
  asio::awaitable<bool> destroy(remote_sandbox box, std::string tag);
  void left(const run_id& id);

  // Touched on the executor only.
  std::unordered_map<run_id, run_ptr> runs_;
  std::set<std::string> tags_in_use_;
  steady::time_point next_creation_{};

  std::mutex idle_mutex_;
  std::condition_variable idle_;
};

// -- coming and going
// -----------------------------------------------------------

void remote_backend::impl::accept(prepared_run_ptr run,
                                  run_observer_ptr observer) {
  if (stopped)
    return observer->finished(
      {fail(ec::unavailable, "the engine is shutting down"), false});
  if (++running > options.max_running) {
    --running;
    return observer->finished(
      {fail(ec::exhausted,
            std::string{where->name()} + " runs "
              + std::to_string(options.max_running)
              + " sandboxes already, as many as max-running allows"),
       false});
  }
  auto key = frame::make_key();
  if (!key) {
    --running;
    return observer->finished({key.error(), false});
  }
  auto r = std::make_shared<remote_run>(std::move(run), std::move(observer),
                                        *where, std::move(*key));
  asio::post(executor, [self = shared_from_this(), r] {
    self->runs_.emplace(r->run().id, r);
    asio::co_spawn(self->executor, self->carry_out(r), asio::detached);
  });
}

void remote_backend::impl::cancel(const run_id& id, exit_reason reason) {
  asio::post(executor, [self = shared_from_this(), id, reason] {
    if (auto i = self->runs_.find(id); i != self->runs_.end())
      i->second->called_off(reason);
  });
}

void remote_backend::impl::left(const run_id& id) {
  runs_.erase(id);
  std::lock_guard guard{idle_mutex_};
  --running;
  idle_.notify_all();
}

void remote_backend::impl::stop_and_wait() {
  stopped = true;
  asio::post(executor, [self = shared_from_this()] {
    for (auto& [id, r] : self->runs_)
      r->called_off(exit_reason::cancelled);
  });
  std::unique_lock lock{idle_mutex_};
  idle_.wait_for(lock, options.destroy_timeout,
                 [this] { return running == 0; });
}

// -- one run
// --------------------------------------------------------------------

asio::awaitable<void> remote_backend::impl::wait_for_turn(run_ptr r) {
  auto now = steady::now();
  auto turn = std::max(now, next_creation_);
  next_creation_ = turn + options.create_spacing;
  if (turn <= now)
    co_return;
  asio::steady_timer timer{executor, turn};
  boost::system::error_code ignored;
  r->abort()->arm([&timer] { timer.cancel(); });
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  r->abort()->disarm();
}

asio::awaitable<void> remote_backend::impl::carry_out(run_ptr r) {
  auto keep = shared_from_this();
  auto id = r->run().id;
  auto finish = [&](run_outcome outcome) {
    left(id); // first, so that whoever is told finds room
    r->observer().finished(std::move(outcome));
  };
  sandbox_lease lease;
  lease.tag = make_uuid();
  lease.provider = where->kind();
  lease.organization = r->run().organization;
  lease.run = id;
  lease.written_at = now();
  co_await wait_for_turn(r);
  if (r->is_called_off())
    co_return finish(r->broken(fail(ec::unavailable, "called off")));
  if (auto written = leases->write(lease); !written)
    co_return finish({written.error().within("lease"), false});
  tags_in_use_.insert(lease.tag);
  auto lifetime = std::chrono::ceil<std::chrono::seconds>(r->run().limits.wall)
    + options.install_timeout + options.spare_lifetime;
  auto created = co_await where->create(r->shared_run(), lease.tag, lifetime,
                                        r->scope(options.create_timeout));
  if (!created.sandbox) {
    tags_in_use_.erase(lease.tag);
    if (!created.may_exist)
      (void)leases->release(lease.tag);
    co_return finish(r->broken(created.sandbox.error()));
  }
  (void)leases->confirm(lease.tag, created.sandbox->id);
  auto outcome = co_await in_sandbox(r, *created.sandbox);
  co_await destroy(std::move(*created.sandbox), lease.tag);
  finish(std::move(outcome));
}

asio::awaitable<run_outcome>
remote_backend::impl::in_sandbox(run_ptr r, const remote_sandbox& box) {
  auto installed = co_await install(r, box);
  if (!installed)
    co_return r->broken(installed.error());
  if (r->is_called_off())
    co_return r->broken(fail(ec::unavailable, "called off"));
  output_sink sink = [r](output_stream from, std::string_view bytes) {
    r->take_output(from, bytes);
  };
  auto scope = r->scope(r->run().limits.wall);
  result<command_end> end = fail(ec::internal, "not run");
  if (r->run().kind == run_kind::command) {
    auto what = command_of(r->run());
    r->begin();
    end = co_await where->execute(box, std::move(what), sink, scope);
  } else {
    auto text = script::build_remote_script(r->run(), r->key());
    if (!text)
      co_return run_outcome{text.error(), false};
    auto lang = r->run().lang;
    r->begin();
    end = co_await where->run_script(box, lang, std::move(*text), sink, scope);
  }
  if (!end)
    co_return r->broken(end.error());
  co_return r->ended(*end);
}

asio::awaitable<result<void>>
remote_backend::impl::install(run_ptr r, const remote_sandbox& box) {
  if (where->installs_at_creation())
    co_return result<void>{};
  for (auto& argv : installers(r->run())) {
    r->observer().progress("installing with " + argv.front());
    std::string tail;
    output_sink sink = [&tail](output_stream, std::string_view bytes) {
      tail += bytes;
      if (tail.size() > 2 * installer_tail_bytes)
        tail.erase(0, tail.size() - installer_tail_bytes);
    };
    command_request what;
    what.argv = std::move(argv);
    auto scope = r->scope(options.install_timeout);
    auto end = co_await where->execute(box, std::move(what), sink, scope);
    if (!end)
      co_return end.error().within("install packages");
    if (end->signaled || end->exit_code != 0)
      co_return fail(ec::invalid_request,
                     "the packages could not be installed (exit code "
                       + std::to_string(end->exit_code)
                       + "); change a version or drop a requirement. The "
                         "installer's last lines:\n"
                       + tail);
  }
  co_return result<void>{};
}

asio::awaitable<bool> remote_backend::impl::destroy(remote_sandbox box,
                                                    std::string tag) {
  // A scope of its own: the run's may be over, its sandbox must go.
  call_scope scope{steady::now() + options.destroy_timeout, nullptr};
  auto gone = co_await where->destroy(box, scope);
  if (gone)
    (void)leases->release(tag);
  tags_in_use_.erase(tag);
  co_return gone.has_value();
}

// -- what was left behind
// ---------------------------------------------------------

asio::awaitable<result<std::vector<provider::tagged>>>
remote_backend::impl::reconcile(bool dry_run) {
  auto keep = shared_from_this();
  call_scope scope{steady::now() + options.destroy_timeout, nullptr};
  // The leases first: one that is written while we list is not forgotten.
  auto known = leases->list(where->kind());
  auto alive = co_await where->list(scope);
  if (!alive)
    co_return alive.error();
  std::vector<provider::tagged> orphans;
  for (const auto& lease : known) {
    if (tags_in_use_.contains(lease.tag))
      continue;
    auto found = false;
    for (auto& t : *alive) {
      if (t.tag != lease.tag
          && (lease.sandbox.empty() || t.sandbox != lease.sandbox))
        continue;
      found = true;
      orphans.push_back(t);
      if (!dry_run) {
        remote_sandbox box{t.sandbox, {}};
        co_await destroy(std::move(box), lease.tag);
      }
    }
    if (!found && !dry_run)
      (void)leases->release(lease.tag);
  }
  co_return orphans;
}

// -- the backend
// ------------------------------------------------------------------

remote_backend::remote_backend(std::shared_ptr<provider> where,
                               std::shared_ptr<lease_book> leases,
                               asio::any_io_executor executor,
                               remote_options options)
    : impl_{std::make_shared<impl>(std::move(where), std::move(leases),
                                   std::move(executor), options)} {}

remote_backend::~remote_backend() = default;

backend_kind remote_backend::kind() const {
  return impl_->where->kind();
}

void remote_backend::start(prepared_run_ptr run, run_observer_ptr observer) {
  impl_->accept(std::move(run), std::move(observer));
}

void remote_backend::cancel(const run_id& id, exit_reason reason) {
  impl_->cancel(id, reason);
}

result<void> remote_backend::ready() const {
  return impl_->where->ready();
}

void remote_backend::stop() {
  impl_->stop_and_wait();
}

void remote_backend::reconcile(bool dry_run, reconciled done) {
  auto work = [](std::shared_ptr<impl> self, bool dry,
                 reconciled told) -> asio::awaitable<void> {
    auto found = co_await self->reconcile(dry);
    told(std::move(found));
  };
  asio::co_spawn(impl_->executor, work(impl_, dry_run, std::move(done)),
                 asio::detached);
}

} // namespace troupe::net
