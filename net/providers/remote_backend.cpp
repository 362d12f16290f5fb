#include "net/providers/remote_backend.hpp"

#include "net/fail.hpp"
#include "net/providers/remote_commands.hpp"
#include "net/providers/remote_run.hpp"
#include "runtime/frame/keyed_frame.hpp"
#include "runtime/log.hpp"
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
#include <unordered_map>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t installer_tail_bytes = 4'096;

} // namespace

class remote_backend::impl : public std::enable_shared_from_this<impl> {
public:
  impl(std::shared_ptr<provider> p, std::shared_ptr<lease_book> leases,
       asio::any_io_executor ex, remote_options o)
      : where{std::move(p)}, executor{std::move(ex)}, options{o},
        keeper{std::make_shared<sandbox_keeper>(where, std::move(leases),
                                                executor, o.keeper)} {}

  void accept(prepared_run_ptr run, run_observer_ptr observer);
  void cancel(const run_id& id, exit_reason reason);
  void stop_and_wait();
  asio::awaitable<result<std::vector<provider::tagged>>>
  reconcile(bool dry_run);
  asio::awaitable<void> keep_reconciling();

  std::shared_ptr<provider> where;
  asio::any_io_executor executor;
  remote_options options;
  std::shared_ptr<sandbox_keeper> keeper;
  std::shared_ptr<abort_switch> resting = std::make_shared<abort_switch>();
  std::atomic<std::size_t> running{0};
  std::atomic<bool> stopped{false};

private:
  using run_ptr = std::shared_ptr<remote_run>;

  asio::awaitable<void> carry_out(run_ptr r);
  asio::awaitable<run_outcome> in_sandbox(run_ptr r, const remote_sandbox& box);
  asio::awaitable<result<void>> install(run_ptr r, const remote_sandbox& box);
  asio::awaitable<void> wait_for_turn(run_ptr r);
  std::chrono::seconds lifetime_of(const prepared_run& run) const;
  asio::awaitable<void> end_sandbox(remote_sandbox box, std::string tag,
                                    std::shared_ptr<asio::steady_timer> gone);
  void left(const run_id& id);
  void put_down();

  // Touched on the executor only.
  std::unordered_map<run_id, run_ptr> runs_;
  steady::time_point next_creation_{};

  // Runs, sandboxes that are being ended, a look for others.
  std::atomic<std::size_t> in_hand_{0};
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
  ++in_hand_;
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
  --running;
  put_down();
}

void remote_backend::impl::put_down() {
  std::lock_guard guard{idle_mutex_};
  --in_hand_;
  idle_.notify_all();
}

void remote_backend::impl::stop_and_wait() {
  stopped = true;
  asio::post(executor, [self = shared_from_this()] {
    self->resting->trip();
    for (auto& [id, r] : self->runs_)
      r->called_off(exit_reason::cancelled);
  });
  // What cannot be ended now has a lease: the next start sees to it.
  std::unique_lock lock{idle_mutex_};
  idle_.wait_for(lock, options.stop_waits, [this] { return in_hand_ == 0; });
}

// -- one run
// --------------------------------------------------------------------

asio::awaitable<void> remote_backend::impl::wait_for_turn(run_ptr r) {
  auto now = steady::now();
  auto turn = std::max(now, next_creation_);
  next_creation_ = turn + options.create_spacing;
  if (turn <= now)
    co_return;
  auto delay = std::chrono::ceil<std::chrono::milliseconds>(turn - now);
  auto deadline = r->scope(delay + options.create_timeout).deadline;
  co_await pause(executor, delay, deadline, r->abort());
}

/// Long enough for all that may happen in it, and then some.
std::chrono::seconds
remote_backend::impl::lifetime_of(const prepared_run& run) const {
  auto needed = std::chrono::ceil<std::chrono::seconds>(run.limits.wall)
    + options.spare_lifetime;
  if (!run.pip_requirements.empty() || !run.npm_requirements.empty())
    needed += options.install_timeout;
  auto said = options.lifetime;
  if (auto* own = config_of(run).config.if_contains("timeout"))
    if (own->is_int64() && own->as_int64() > 0)
      said = std::chrono::seconds{own->as_int64()};
  return std::max(needed, said);
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
  auto kept = where->keeps_sandboxes();
  result<void> written;
  if (kept)
    written = co_await keeper->write(lease);
  if (!written)
    co_return finish({written.error().within("lease"), false});
  auto created
    = co_await where->create(r->shared_run(), lease.tag, lifetime_of(r->run()),
                             r->scope(options.create_timeout));
  if (!created.sandbox) {
    if (created.may_exist)
      keeper->leave(lease.tag);
    else if (kept)
      co_await keeper->release(lease.tag);
    // Whatever a provider cannot find or finds twice, another has its own.
    auto why = created.sandbox.error();
    if (why.code == ec::not_found || why.code == ec::conflict)
      why.code = ec::unavailable;
    co_return finish(r->broken(std::move(why)));
  }
  if (kept)
    co_await keeper->confirm(lease.tag, created.sandbox->id);
  auto outcome = co_await in_sandbox(r, *created.sandbox);
  if (!kept)
    co_return finish(std::move(outcome));
  auto gone = std::make_shared<asio::steady_timer>(executor);
  gone->expires_after(options.answer_waits);
  asio::co_spawn(executor,
                 end_sandbox(std::move(*created.sandbox), lease.tag, gone),
                 asio::detached);
  boost::system::error_code ignored;
  co_await gone->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  finish(std::move(outcome));
}

asio::awaitable<void>
remote_backend::impl::end_sandbox(remote_sandbox box, std::string tag,
                                  std::shared_ptr<asio::steady_timer> gone) {
  auto keep = shared_from_this();
  ++in_hand_;
  auto name = box.id;
  auto ended = co_await keeper->destroy(std::move(box), std::move(tag));
  if (!ended)
    log::warning("backend could not end a sandbox yet",
                 {{"backend", where->name()}, {"sandbox", name}});
  gone->expires_at(steady::now()); // whoever waits, now or later
  put_down();
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
    auto text = script::build_remote_parts(r->run(), r->key());
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

// -- what was left behind -----------------------------------------------------

asio::awaitable<result<std::vector<provider::tagged>>>
remote_backend::impl::reconcile(bool dry_run) {
  auto keep = shared_from_this();
  auto found = co_await keeper->reconcile(dry_run);
  co_return found;
}

/// At once, for what the engine before us left, then again and again.
asio::awaitable<void> remote_backend::impl::keep_reconciling() {
  auto keep = shared_from_this();
  while (!stopped && where->ready()) {
    ++in_hand_;
    auto found = co_await keeper->reconcile(false, resting);
    put_down();
    auto name = std::string{where->name()};
    if (!found)
      log::warning("backend could not look for sandboxes that were left behind",
                   {{"backend", name}, {"why", found.error().text}});
    else if (!found->empty())
      log::info(
        "backend ended sandboxes that were left behind",
        {{"backend", name}, {"sandboxes", std::to_string(found->size())}});
    co_await pause(executor, options.reconcile_every, steady::time_point::max(),
                   resting);
  }
}

// -- the backend
// ------------------------------------------------------------------

remote_backend::remote_backend(std::shared_ptr<provider> where,
                               std::shared_ptr<lease_book> leases,
                               asio::any_io_executor executor,
                               remote_options options)
    : impl_{std::make_shared<impl>(std::move(where), std::move(leases),
                                   std::move(executor), options)} {
  if (options.reconcile_every.count() > 0)
    asio::co_spawn(impl_->executor, impl_->keep_reconciling(), asio::detached);
}

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
