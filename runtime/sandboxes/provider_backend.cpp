#include "runtime/sandboxes/provider_backend.hpp"

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/runner/program.hpp"
#include "runtime/runner/remote_script.hpp"
#include "runtime/runner/stdout_frame.hpp"
#include "runtime/sandboxes/provider_run.hpp"
#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "runtime/sandboxes/sandbox_provisioner.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <unordered_map>

namespace troupe {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

class provider_backend::impl : public std::enable_shared_from_this<impl> {
public:
  impl(std::shared_ptr<sandbox_provider> p, std::shared_ptr<lease_book> book,
       asio::any_io_executor ex, provider_limits o)
      : where{std::move(p)}, executor{std::move(ex)}, options{o},
        leases{std::make_shared<lease_manager>(where, std::move(book), executor,
                                               o.leases)},
        provisioner{std::make_shared<sandbox_provisioner>(
          where, leases, executor, o, in_progress)} {}

  void accept(prepared_run_ptr run, run_observer_ptr observer);
  void cancel(const run_id& id, exit_reason reason);
  void stop_and_wait();
  asio::awaitable<result<std::vector<tagged_sandbox>>> reconcile(bool dry_run);
  asio::awaitable<void> keep_reconciling();

  std::shared_ptr<sandbox_provider> where;
  asio::any_io_executor executor;
  provider_limits options;
  // Runs, sandboxes that are made or being ended, a look for others.
  std::shared_ptr<wait_group> in_progress = std::make_shared<wait_group>();
  std::shared_ptr<lease_manager> leases;
  std::shared_ptr<sandbox_provisioner> provisioner;
  std::shared_ptr<cancellation> resting = std::make_shared<cancellation>();
  std::atomic<std::size_t> running{0};
  std::atomic<bool> stopped{false};

private:
  using run_ptr = std::shared_ptr<provider_run>;

  asio::awaitable<void> carry_out(run_ptr r);
  asio::awaitable<run_outcome> in_sandbox(run_ptr r, const sandbox_handle& box);

  // Touched on the executor only.
  std::unordered_map<run_id, run_ptr> runs_;
};

// -- coming and going --------------------------------------------------------

void provider_backend::impl::accept(prepared_run_ptr run,
                                    run_observer_ptr observer) {
  if (stopped)
    return observer->finished(
      {fail(ec::unavailable, "the engine is shutting down"), false});
  if (run->kind == run_kind::command && has_files(*run))
    return observer->finished(
      {bad_field(run->files.empty() ? "/outputs" : "/files",
                 std::string{where->name()}
                   + " has no files for the runs of commands",
                 "send a source or code, or use the backend local"),
       false});
  if (++running > options.max_running) {
    --running;
    return observer->finished(
      {fail(ec::exhausted,
            std::string{where->name()} + " runs "
              + std::to_string(options.max_running)
              + " sandboxes already, the limit of max-running"),
       false});
  }
  auto key = frame::make_key();
  if (!key) {
    --running;
    return observer->finished({key.error(), false});
  }
  auto r = std::make_shared<provider_run>(std::move(run), std::move(observer),
                                          *where, std::move(*key));
  in_progress->begin();
  asio::post(executor, [self = shared_from_this(), r] {
    self->runs_.emplace(r->run().id, r);
    asio::co_spawn(self->executor, self->carry_out(r), asio::detached);
  });
}

void provider_backend::impl::cancel(const run_id& id, exit_reason reason) {
  asio::post(executor, [self = shared_from_this(), id, reason] {
    if (auto i = self->runs_.find(id); i != self->runs_.end())
      i->second->cancel(reason);
  });
}

void provider_backend::impl::stop_and_wait() {
  stopped = true;
  in_progress->begin();
  asio::post(executor, [self = shared_from_this()] {
    self->resting->cancel();
    for (auto& [id, r] : self->runs_)
      r->cancel(exit_reason::cancelled);
    self->provisioner->close();
    self->in_progress->end();
  });
  // What cannot be ended now has a lease: the next start sees to it.
  in_progress->wait_for(options.stop_waits);
}

// -- one run -----------------------------------------------------------------

asio::awaitable<void> provider_backend::impl::carry_out(run_ptr r) {
  auto keep = shared_from_this();
  auto finish = [&](run_outcome outcome) {
    runs_.erase(r->run().id);
    --running; // first, so that whoever is told finds room
    r->observer().finished(std::move(outcome));
  };
  sandbox_provisioner::progress_sink progress
    = [r](std::string_view what) { r->observer().progress(what); };
  auto preparing = r->scope(options.create_timeout + options.install_timeout);
  auto held = co_await provisioner->acquire(
    sandbox_for(r->run()), wants_reuse(r->run()), progress, preparing);
  if (!held) {
    finish(r->fail_with(held.error(), false));
    in_progress->end();
    co_return;
  }
  r->follows(held->used++);
  auto outcome = co_await in_sandbox(r, held->box);
  // One whose program was ended from outside may still be busy with it.
  auto ended_well = outcome.answer
    && (outcome.answer->reason == exit_reason::exited
        || outcome.answer->reason == exit_reason::raised);
  // The lease answers for the sandbox: nobody has to wait for its end.
  provisioner->release(std::move(*held), ended_well, r->traceparent());
  finish(std::move(outcome));
  in_progress->end();
}

asio::awaitable<run_outcome>
provider_backend::impl::in_sandbox(run_ptr r, const sandbox_handle& box) {
  if (r->is_cancelled())
    co_return r->fail_with(fail(ec::unavailable, "called off"), false);
  output_sink sink = [r](output_stream from, std::string_view bytes) {
    r->take_output(from, bytes);
  };
  auto scope = r->scope(r->run().limits.wall);
  scope.begun = [r] { r->begun(); };
  process_outcome done{fail(ec::internal, "not run"), false};
  if (r->run().kind == run_kind::command) {
    auto what = process_for(r->run());
    r->hand_over();
    done = co_await where->execute(box, std::move(what), sink, scope);
  } else {
    auto text = script::build_remote_parts(r->run(), r->key());
    if (!text)
      co_return run_outcome{text.error(), false};
    auto lang = r->run().lang;
    r->hand_over();
    done = co_await where->run_script(box, lang, std::move(*text), sink, scope);
  }
  if (!done.end) {
    // It was there a moment ago: that says nothing about its provider.
    auto gone = done.end.error().code == ec::not_found;
    auto outcome = r->fail_with(done.end.error(), done.may_have_begun);
    outcome.sandbox_lost = gone && !outcome.answer;
    co_return outcome;
  }
  co_return r->finish(*done.end);
}

// -- what was left behind -----------------------------------------------------

asio::awaitable<result<std::vector<tagged_sandbox>>>
provider_backend::impl::reconcile(bool dry_run) {
  auto keep = shared_from_this();
  auto found = co_await leases->reconcile(dry_run);
  co_return found;
}

/// At once, for what the engine before us left, then again and again.
asio::awaitable<void> provider_backend::impl::keep_reconciling() {
  auto keep = shared_from_this();
  while (!stopped && where->ready()) {
    in_progress->begin();
    auto found = co_await leases->reconcile(false, resting);
    in_progress->end();
    auto name = std::string{where->name()};
    if (!found)
      log::warning("backend could not list orphaned sandboxes",
                   {{"backend", name}, {"why", found.error().text}});
    else if (!found->empty())
      log::info(
        "backend deleted orphaned sandboxes",
        {{"backend", name}, {"sandboxes", std::to_string(found->size())}});
    co_await pause(executor, options.reconcile_every, steady::time_point::max(),
                   resting);
  }
}

// -- the backend -------------------------------------------------------------

provider_backend::provider_backend(std::shared_ptr<sandbox_provider> where,
                                   std::shared_ptr<lease_book> leases,
                                   asio::any_io_executor executor,
                                   provider_limits options)
    : impl_{std::make_shared<impl>(std::move(where), std::move(leases),
                                   std::move(executor), options)} {
  if (options.reconcile_every.count() > 0)
    asio::co_spawn(impl_->executor, impl_->keep_reconciling(), asio::detached);
}

provider_backend::~provider_backend() = default;

backend_kind provider_backend::kind() const {
  return impl_->where->kind();
}

backend_name provider_backend::name() const {
  return impl_->where->backend();
}

void provider_backend::start(prepared_run_ptr run, run_observer_ptr observer) {
  impl_->accept(std::move(run), std::move(observer));
}

void provider_backend::cancel(const run_id& id, exit_reason reason) {
  impl_->cancel(id, reason);
}

result<void> provider_backend::ready() const {
  return impl_->where->ready();
}

void provider_backend::stop() {
  impl_->stop_and_wait();
}

bool provider_backend::rest(std::chrono::milliseconds limit) {
  return impl_->in_progress->wait_for(limit);
}

void provider_backend::reconcile(bool dry_run, reconciled done) {
  auto work = [](std::shared_ptr<impl> self, bool dry,
                 reconciled told) -> asio::awaitable<void> {
    auto found = co_await self->reconcile(dry);
    told(std::move(found));
  };
  asio::co_spawn(impl_->executor, work(impl_, dry_run, std::move(done)),
                 asio::detached);
}

} // namespace troupe
