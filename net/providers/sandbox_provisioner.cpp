#include "net/providers/sandbox_provisioner.hpp"

#include "net/http/fail.hpp"
#include "net/http/trace_context.hpp"
#include "net/providers/install_commands.hpp"
#include "runtime/base/log.hpp"
#include "runtime/model/codec/codec.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t installer_tail_bytes = 4'096;

call_scope within(call_scope scope, std::chrono::milliseconds limit) {
  scope.deadline = std::min(scope.deadline, steady::now() + limit);
  return scope;
}

bool is_called_off(const call_scope& scope) {
  return scope.abort && scope.abort->tripped();
}

/// What a sandbox is made for, without what is done in it.
prepared_run_ptr kind_of(const prepared_run& run) {
  auto kind = std::make_shared<prepared_run>();
  kind->id = run.id;
  kind->organization = run.organization;
  kind->kind = run.kind;
  kind->lang = run.lang;
  kind->config = run.config;
  kind->pip_requirements = run.pip_requirements;
  kind->npm_requirements = run.npm_requirements;
  kind->limits = run.limits;
  kind->network = run.network;
  return kind;
}

} // namespace

sandbox_provisioner::sandbox_provisioner(std::shared_ptr<provider> where,
                                         std::shared_ptr<lease_manager> keeper,
                                         asio::any_io_executor executor,
                                         remote_options options,
                                         std::shared_ptr<wait_group> in_hand)
    : where_{std::move(where)}, keeper_{std::move(keeper)}, executor_{executor},
      options_{options}, in_hand_{std::move(in_hand)},
      room_{executor, options.max_running}, next_look_{executor} {}

// -- which one ----------------------------------------------------------------

/// A run that asks for the strictest isolation follows nobody.
bool sandbox_provisioner::may_stay(const prepared_run& run) const {
  auto* said = config_of(run).config.if_contains("reuse");
  return where_->supports_reuse() && said && said->is_bool() && said->as_bool()
    && run.isolation != isolation_level::strict;
}

std::string sandbox_provisioner::key_of(const prepared_run& run) const {
  auto ahead = options_.ready_ahead > 0 && where_->supports_reuse();
  return ahead || may_stay(run) ? sandbox_key(run, *where_) : std::string{};
}

/// Long enough for all that may happen in it, and then some.
std::chrono::seconds
sandbox_provisioner::lifetime_of(const prepared_run& run) const {
  auto needed = std::chrono::ceil<std::chrono::seconds>(run.limits.wall)
    + options_.spare_lifetime;
  if (!run.pip_requirements.empty() || !run.npm_requirements.empty())
    needed += options_.install_timeout;
  auto said = options_.lifetime;
  if (auto* own = config_of(run).config.if_contains("timeout"))
    if (own->is_int64() && own->as_int64() > 0)
      said = std::chrono::seconds{own->as_int64()};
  return std::max(needed, said);
}

asio::awaitable<result<acquired_sandbox>>
sandbox_provisioner::obtain(prepared_run_ptr run, progress_sink progress,
                            call_scope scope) {
  auto keep = shared_from_this();
  auto key = key_of(*run);
  auto stays = may_stay(*run);
  std::optional<acquired_sandbox> waiting;
  if (!key.empty()) {
    waiting = co_await take_pooled(*run, key, stays, scope);
    refill_prewarmed(*run, key);
  }
  if (waiting) {
    waiting->box.env = run->env;
    waiting->stays = stays;
    co_return std::move(*waiting);
  }
  // Those that may not stay after this run can have its variables as a whole.
  if (!stays)
    key.clear();
  auto lifetime = lifetime_of(*run);
  auto fresh
    = co_await make(run, std::move(key), lifetime, std::move(progress), scope);
  if (fresh) {
    fresh->stays = stays;
    if (stays)
      fresh->box.env = run->env;
  }
  co_return fresh;
}

/// The first that is still there. One that is not costs a question, no run.
asio::awaitable<std::optional<acquired_sandbox>>
sandbox_provisioner::take_pooled(const prepared_run& run, std::string key,
                                 bool may_follow, call_scope scope) {
  auto lifetime = lifetime_of(run);
  while (!is_called_off(scope)) {
    auto one = pool_.take(key, run.organization, may_follow);
    if (!one)
      break;
    auto long_enough = where_->can_extend_timeout()
      || one->ends_at - steady::now() >= lifetime;
    result<remote_sandbox> there = fail(ec::not_found, "its time is over");
    if (long_enough) {
      auto soon = within(scope, options_.rejoin_timeout);
      there = co_await where_->rejoin(one->box, lifetime, soon);
    }
    if (there) {
      one->box = std::move(*there);
      if (where_->can_extend_timeout())
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
sandbox_provisioner::make(prepared_run_ptr run, std::string key,
                          std::chrono::seconds lifetime, progress_sink progress,
                          call_scope scope) {
  auto creating = within(scope, options_.create_timeout);
  auto room = co_await find_room(creating);
  if (!room)
    co_return fail(ec::exhausted, "the limit max-sandboxes is reached");
  auto turn = co_await wait_for_turn(creating);
  sandbox_lease lease;
  lease.tag = make_uuid();
  lease.provider = where_->kind();
  lease.organization = run->organization;
  lease.run = run->id;
  lease.key = key;
  lease.written_at = now();
  auto kept = where_->keeps_sandboxes();
  result<void> written;
  if (!turn)
    written = fail(ec::unavailable, "called off");
  else if (kept)
    written = co_await keeper_->write(lease);
  if (!written) {
    room_.leave();
    co_return turn ? written.error().within("lease") : written.error();
  }
  sandbox_request wish{run, lease.tag, lifetime, key};
  creating = within(scope, options_.create_timeout);
  auto created = co_await where_->create(std::move(wish), creating);
  if (!created.sandbox) {
    if (!created.left_behind.empty()) {
      acquired_sandbox half;
      half.box.id = std::move(created.left_behind);
      half.tag = lease.tag;
      destroy_async(std::move(half), scope.traceparent);
    } else {
      if (created.may_exist)
        keeper_->leave(lease.tag);
      else if (kept)
        co_await keeper_->release(lease.tag);
      room_.leave();
    }
    co_return created.sandbox.error();
  }
  if (kept)
    co_await keeper_->confirm(lease.tag, created.sandbox->id);
  acquired_sandbox one;
  one.box = std::move(*created.sandbox);
  one.box.shared = !key.empty();
  one.tag = lease.tag;
  one.organization = run->organization;
  one.key = std::move(key);
  one.ends_at = steady::now() + lifetime;
  auto installed = co_await install(*run, one.box, std::move(progress), scope);
  if (!installed) {
    destroy_async(std::move(one), scope.traceparent);
    co_return installed.error();
  }
  co_return one;
}

asio::awaitable<result<void>>
sandbox_provisioner::install(const prepared_run& run, const remote_sandbox& box,
                             progress_sink progress, call_scope scope) {
  if (where_->installs_at_creation())
    co_return result<void>{};
  for (auto& argv : installers(run, where_->package_folder(box))) {
    if (progress)
      progress("installing with " + argv.front());
    std::string tail;
    output_sink sink = [&tail](output_stream, std::string_view bytes) {
      tail += bytes;
      if (tail.size() > 2 * installer_tail_bytes)
        tail.erase(0, tail.size() - installer_tail_bytes);
    };
    command_request what;
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
void sandbox_provisioner::refill_prewarmed(const prepared_run& run,
                                           const std::string& key) {
  if (closed_ || !where_->supports_reuse())
    return;
  auto there = pool_.untouched() + making_ahead_.size();
  for (; there < options_.ready_ahead; ++there) {
    // The last places are for runs.
    if (room_.taken() + making_ahead_.size() + 1 >= options_.max_running)
      return;
    auto off = std::make_shared<abort_switch>();
    making_ahead_.insert(off);
    in_hand_->begin();
    asio::co_spawn(executor_, prewarm_one(kind_of(run), key, off),
                   asio::detached);
  }
}

asio::awaitable<void>
sandbox_provisioner::prewarm_one(prepared_run_ptr kind, std::string key,
                                 std::shared_ptr<abort_switch> off) {
  auto keep = shared_from_this();
  auto patience = options_.create_timeout + options_.install_timeout;
  call_scope scope{steady::now() + patience, off, known_or_new_trace({})};
  // Time to wait, and then to serve.
  auto lifetime = options_.lifetime + lifetime_of(*kind);
  progress_sink nobody;
  held_or_error made = fail(ec::exhausted, "no room");
  if (!room_.full())
    made = co_await make(kind, key, lifetime, nobody, scope);
  making_ahead_.erase(off);
  if (made) {
    made->stays = true; // it may wait; who takes it says what comes then
    give_back(std::move(*made), true, scope.traceparent);
  } else if (!closed_) {
    log::warning(
      "backend could not prewarm a sandbox",
      {{"backend", where_->name()}, {"why", to_string(made.error().code)}});
  }
  in_hand_->end();
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
    co_await pause(executor_, delay, scope.deadline, scope.abort);
  }
  co_return !is_called_off(scope);
}

// -- given back --------------------------------------------------------------

void sandbox_provisioner::give_back(acquired_sandbox one, bool ended_well,
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
  if (!where_->keeps_sandboxes())
    return room_.leave();
  in_hand_->begin();
  asio::co_spawn(executor_, end(std::move(one), std::move(traceparent)),
                 asio::detached);
}

asio::awaitable<void> sandbox_provisioner::end(acquired_sandbox one,
                                               std::string traceparent) {
  auto keep = shared_from_this();
  auto name = one.box.id;
  auto ended = co_await keeper_->destroy(std::move(one.box), std::move(one.tag),
                                         std::move(traceparent));
  if (!ended)
    log::warning("backend could not delete a sandbox yet",
                 {{"backend", where_->name()}, {"sandbox", name}});
  room_.leave();
  in_hand_->end();
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
    off->trip();
  while (auto idle = pool_.take_oldest())
    destroy_async(std::move(*idle), known_or_new_trace({}));
  next_look_.cancel();
}

} // namespace troupe::net
