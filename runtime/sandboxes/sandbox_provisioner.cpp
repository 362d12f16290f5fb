#include "runtime/sandboxes/sandbox_provisioner.hpp"

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/sandboxes/install_commands.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace troupe {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t installer_tail_bytes = 4'096;

call_scope within(call_scope scope, std::chrono::milliseconds limit) {
  scope.deadline = std::min(scope.deadline, steady::now() + limit);
  return scope;
}

bool is_cancelled(const call_scope& scope) {
  return scope.cancel && scope.cancel->cancelled();
}

} // namespace

sandbox_provisioner::sandbox_provisioner(
  std::shared_ptr<sandbox_provider> where,
  std::shared_ptr<lease_manager> leases, asio::any_io_executor executor,
  provider_limits options, std::shared_ptr<wait_group> in_progress)
    : where_{std::move(where)}, leases_{std::move(leases)}, executor_{executor},
      options_{options}, in_progress_{std::move(in_progress)},
      room_{executor, options.max_running}, next_look_{executor} {}

// -- which one ----------------------------------------------------------------

std::string sandbox_provisioner::key_of(const sandbox_request& wanted,
                                        bool stays) const {
  auto ahead = options_.prewarmed > 0 && where_->capabilities().reuse;
  return ahead || stays ? sandbox_key(wanted, *where_) : std::string{};
}

/// Long enough for all that may happen in it, and then some.
std::chrono::seconds
sandbox_provisioner::lifetime_of(const sandbox_request& wanted) const {
  auto needed = std::chrono::ceil<std::chrono::seconds>(wanted.limits.wall)
    + options_.spare_lifetime;
  if (!wanted.pip_requirements.empty() || !wanted.npm_requirements.empty())
    needed += options_.install_timeout;
  auto said = options_.lifetime;
  if (auto* own = config_of(wanted).config.if_contains("timeout"))
    if (own->is_int64() && own->as_int64() > 0)
      said = std::chrono::seconds{own->as_int64()};
  return std::max(needed, said);
}

asio::awaitable<result<acquired_sandbox>>
sandbox_provisioner::acquire(sandbox_request wanted, bool reuse,
                             progress_sink progress, call_scope scope) {
  auto keep = shared_from_this();
  auto stays = reuse && where_->capabilities().reuse;
  auto key = key_of(wanted, stays);
  std::optional<acquired_sandbox> waiting;
  if (!key.empty()) {
    waiting = co_await take_pooled(wanted, key, stays, scope);
    refill_prewarmed(wanted, key);
  }
  if (waiting) {
    waiting->box.env = std::move(wanted.env);
    waiting->stays = stays;
    co_return std::move(*waiting);
  }
  // One that may not stay after this run can have its variables as a whole.
  environment own;
  if (stays) {
    wanted.key = std::move(key);
    own = std::exchange(wanted.env, {});
  }
  wanted.lifetime = lifetime_of(wanted);
  auto fresh = co_await make(std::move(wanted), std::move(progress), scope);
  if (fresh) {
    fresh->stays = stays;
    if (stays)
      fresh->box.env = std::move(own);
  }
  co_return fresh;
}

/// The first that is still there. One that is not costs a question, no run.
asio::awaitable<std::optional<acquired_sandbox>>
sandbox_provisioner::take_pooled(const sandbox_request& wanted, std::string key,
                                 bool may_follow, call_scope scope) {
  auto lifetime = lifetime_of(wanted);
  while (!is_cancelled(scope)) {
    auto one = pool_.take(key, wanted.organization, may_follow);
    if (!one)
      break;
    auto long_enough = where_->capabilities().renew
      || one->ends_at - steady::now() >= lifetime;
    result<sandbox_handle> there = fail(ec::not_found, "its time is over");
    if (long_enough) {
      auto soon = within(scope, options_.reconnect_timeout);
      there = co_await where_->reconnect(one->box, lifetime, soon);
    }
    if (there) {
      one->box = std::move(*there);
      if (where_->capabilities().renew)
        one->ends_at = steady::now() + lifetime;
      co_return one;
    }
    log::info("backend dropped a prewarmed sandbox",
              {{"backend", where_->name()},
               {"sandbox", one->box.id},
               {"why", to_string(there.error().code)}});
    destroy_async(std::move(*one), scope.traceparent);
  }
  co_return std::nullopt;
}

// -- made --------------------------------------------------------------------

asio::awaitable<result<acquired_sandbox>>
sandbox_provisioner::make(sandbox_request wanted, progress_sink progress,
                          call_scope scope) {
  auto creating = within(scope, options_.create_timeout);
  auto room = co_await find_room(creating);
  if (!room)
    co_return fail(ec::exhausted, "the limit max-sandboxes is reached");
  auto turn = co_await wait_for_turn(creating);
  sandbox_lease lease;
  lease.tag = make_uuid();
  lease.provider = where_->backend();
  lease.organization = wanted.organization;
  lease.run = wanted.run;
  lease.key = wanted.key;
  lease.written_at = now();
  auto kept = where_->capabilities().outlives_call;
  result<void> written;
  if (!turn)
    written = fail(ec::unavailable, "called off");
  else if (kept)
    written = co_await leases_->write(lease);
  if (!written) {
    room_.leave();
    co_return turn ? written.error().within("lease") : written.error();
  }
  wanted.tag = lease.tag;
  creating = within(scope, options_.create_timeout);
  auto created = co_await where_->create(wanted, creating);
  if (!created.sandbox) {
    if (!created.left_behind.empty()) {
      acquired_sandbox half;
      half.box.id = std::move(created.left_behind);
      half.tag = lease.tag;
      destroy_async(std::move(half), scope.traceparent);
    } else {
      if (created.may_exist)
        leases_->leave(lease.tag);
      else if (kept)
        co_await leases_->release(lease.tag);
      room_.leave();
    }
    co_return created.sandbox.error();
  }
  if (kept)
    co_await leases_->confirm(lease.tag, created.sandbox->id);
  acquired_sandbox one;
  one.box = std::move(*created.sandbox);
  one.box.shared = wanted.shared();
  one.tag = lease.tag;
  one.organization = wanted.organization;
  one.key = wanted.key;
  one.ends_at = steady::now() + wanted.lifetime;
  auto installed
    = co_await install(wanted, one.box, std::move(progress), scope);
  if (!installed) {
    destroy_async(std::move(one), scope.traceparent);
    co_return installed.error();
  }
  co_return one;
}

asio::awaitable<result<void>>
sandbox_provisioner::install(const sandbox_request& wanted,
                             const sandbox_handle& box, progress_sink progress,
                             call_scope scope) {
  if (where_->capabilities().installs_packages)
    co_return result<void>{};
  for (auto& argv : installers(wanted, where_->package_folder(box))) {
    if (progress)
      progress("installing with " + argv.front());
    std::string tail;
    output_sink sink = [&tail](output_stream, std::string_view bytes) {
      tail += bytes;
      if (tail.size() > 2 * installer_tail_bytes)
        tail.erase(0, tail.size() - installer_tail_bytes);
    };
    process_request what;
    what.argv = std::move(argv);
    auto soon = within(scope, options_.install_timeout);
    auto done = co_await where_->execute(box, std::move(what), sink, soon);
    const auto& end = done.end;
    if (!end)
      co_return error{end.error()}.within("install packages");
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

// -- made ahead --------------------------------------------------------------

/// As many of the kind that is wanted just now as may wait all together. Who
/// is not wanted again runs out of time and is not replaced.
void sandbox_provisioner::refill_prewarmed(sandbox_request wanted,
                                           const std::string& key) {
  if (closed_ || !where_->capabilities().reuse)
    return;
  wanted.key = key;
  wanted.env.clear();
  // Time to wait, and then to serve.
  wanted.lifetime = options_.lifetime + lifetime_of(wanted);
  auto there = pool_.unused() + making_ahead_.size();
  for (; there < options_.prewarmed; ++there) {
    // The last places are for runs.
    if (room_.taken() + making_ahead_.size() + 1 >= options_.max_running)
      return;
    auto off = std::make_shared<cancellation>();
    making_ahead_.insert(off);
    in_progress_->begin();
    asio::co_spawn(executor_, prewarm_one(wanted, off), asio::detached);
  }
}

asio::awaitable<void>
sandbox_provisioner::prewarm_one(sandbox_request wanted,
                                 std::shared_ptr<cancellation> off) {
  auto keep = shared_from_this();
  auto patience = options_.create_timeout + options_.install_timeout;
  call_scope scope{steady::now() + patience, off, known_or_new_trace({})};
  held_or_error made = fail(ec::exhausted, "no room");
  if (!room_.full())
    made = co_await make(std::move(wanted), {}, scope);
  making_ahead_.erase(off);
  if (made) {
    made->stays = true; // it may wait; who takes it says what comes then
    release(std::move(*made), true, scope.traceparent);
  } else if (!closed_) {
    log::warning(
      "backend could not prewarm a sandbox",
      {{"backend", where_->name()}, {"why", to_string(made.error().code)}});
  }
  in_progress_->end();
}

// -- room and pace -----------------------------------------------------------

asio::awaitable<bool> sandbox_provisioner::find_room(call_scope scope) {
  // What only waits makes room for what is wanted now.
  if (room_.full())
    if (auto idle = pool_.take_oldest())
      destroy_async(std::move(*idle), scope.traceparent);
  auto found = co_await room_.take(std::move(scope));
  co_return found;
}

/// False when it was called off.
asio::awaitable<bool> sandbox_provisioner::wait_for_turn(call_scope scope) {
  auto now = steady::now();
  auto turn = std::max(now, next_creation_);
  next_creation_ = turn + options_.create_spacing;
  if (turn > now) {
    auto delay = std::chrono::ceil<std::chrono::milliseconds>(turn - now);
    co_await pause(executor_, delay, scope.deadline, scope.cancel);
  }
  co_return !is_cancelled(scope);
}

// -- given back --------------------------------------------------------------

void sandbox_provisioner::release(acquired_sandbox one, bool ended_well,
                                  std::string traceparent) {
  auto idle_until = std::min(steady::now() + options_.lifetime, one.ends_at);
  auto waits = one.stays && !one.key.empty() && ended_well && !closed_
    && idle_until > steady::now() && !room_.awaited();
  if (!waits)
    return destroy_async(std::move(one), std::move(traceparent));
  one.box.env.clear();
  one.idle_until = idle_until;
  pool_.put(std::move(one));
  next_look_.cancel();
  if (!std::exchange(looking_, true))
    asio::co_spawn(executor_, reap_expired(), asio::detached);
}

void sandbox_provisioner::destroy_async(acquired_sandbox one,
                                        std::string traceparent) {
  if (!where_->capabilities().outlives_call)
    return room_.leave();
  in_progress_->begin();
  asio::co_spawn(executor_, end(std::move(one), std::move(traceparent)),
                 asio::detached);
}

asio::awaitable<void> sandbox_provisioner::end(acquired_sandbox one,
                                               std::string traceparent) {
  auto keep = shared_from_this();
  auto name = one.box.id;
  auto ended = co_await leases_->destroy(std::move(one.box), std::move(one.tag),
                                         std::move(traceparent));
  if (!ended)
    log::warning("backend could not delete a sandbox yet",
                 {{"backend", where_->name()}, {"sandbox", name}});
  room_.leave();
  in_progress_->end();
}

asio::awaitable<void> sandbox_provisioner::reap_expired() {
  auto keep = shared_from_this();
  boost::system::error_code ignored;
  while (!closed_ && pool_.size() > 0) {
    while (auto late = pool_.take_expired(steady::now()))
      destroy_async(std::move(*late), known_or_new_trace({}));
    next_look_.expires_at(pool_.next_end());
    co_await next_look_.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  }
  looking_ = false;
}

void sandbox_provisioner::close() {
  closed_ = true;
  auto making = making_ahead_;
  for (const auto& off : making)
    off->cancel();
  while (auto idle = pool_.take_oldest())
    destroy_async(std::move(*idle), known_or_new_trace({}));
  next_look_.cancel();
}

} // namespace troupe
