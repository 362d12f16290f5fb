#include "net/providers/modal/exec.hpp"

#include "net/providers/modal/messages.hpp"
#include "runtime/base/error.hpp"
#include "runtime/sandboxes/async_semaphore.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <set>

namespace troupe::net {

namespace asio = boost::asio;
using namespace modal;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view router = "/modal.task_command_router."
                                    "TaskCommandRouter/";
constexpr std::size_t stdin_piece_bytes = 1u << 20;
constexpr auto wait_bound = 60s;   // of one TaskExecWait
constexpr int max_breaks = 10;     // in a row, of one call
constexpr auto first_pause = 10ms; // after a break; doubles
constexpr auto renewal_bound = 10s;

/// Something broke under the call, which may work the next time: every call of
/// a router can be made twice.
bool broke_off(const grpc_status& status) {
  switch (status.code) {
  case grpc_code::unavailable:
  case grpc_code::internal:
  case grpc_code::deadline_exceeded:
  case grpc_code::unknown:
  case grpc_code::cancelled:
    return true;
  default:
    return false;
  }
}

/// One process in one sandbox, seen through the sandbox's router.
struct router_run : std::enable_shared_from_this<router_run> {
  router_run(asio::any_io_executor ex, modal_router way, call_scope bounds)
      : at{std::move(way)}, scope{std::move(bounds)}, settled{ex}, renewing{ex,
                                                                            1} {
    settled.expires_at(steady::time_point::max());
  }

  asio::awaitable<grpc_reply> call(std::string method, std::string message,
                                   std::function<bool(std::string_view)> take,
                                   steady::time_point until);
  asio::awaitable<bool> goes_on_after(grpc_status why, std::string used_jwt,
                                      int breaks);
  asio::awaitable<bool> back_off(std::chrono::milliseconds delay);
  asio::awaitable<bool> renew(std::string used_jwt);
  asio::awaitable<grpc_reply> start(exec_request what);
  asio::awaitable<void> read(bool is_err, output_sink sink);
  asio::awaitable<void> feed(std::string input);
  asio::awaitable<result<process_end>> wait();

  void wake() {
    for (auto* timer : resting)
      timer->cancel();
  }
  /// Called off, or beyond repair: ends every part.
  void end() {
    over = true;
    at.channel->close();
    wake();
  }
  void part_ended() {
    if (--open_parts == 0)
      settled.cancel();
  }

  modal_router at;
  call_scope scope;
  asio::steady_timer settled;
  async_semaphore renewing;
  std::string id = make_uuid();
  std::set<asio::steady_timer*> resting;
  int open_parts = 0;
  bool ended = false;  // the process: it takes no input any more
  bool over = false;   // nothing is taken up again
  result<void> broken; // the first trouble of any part
};

asio::awaitable<grpc_reply>
router_run::call(std::string method, std::string message,
                 std::function<bool(std::string_view)> take,
                 steady::time_point until) {
  grpc_call c;
  c.path = std::string{router} + std::move(method);
  c.metadata = {{"authorization", "Bearer " + at.jwt}};
  c.message = std::move(message);
  c.deadline = std::min(until, scope.deadline);
  c.traceparent = scope.traceparent;
  c.on_message = std::move(take);
  auto reply = co_await at.channel->call(std::move(c));
  co_return reply;
}

/// Whether a part that ended so is taken up again: on another connection, or
/// with another token.
asio::awaitable<bool>
router_run::goes_on_after(grpc_status why, std::string used_jwt, int breaks) {
  if (over || breaks >= max_breaks
      || (scope.cancel && scope.cancel->cancelled()))
    co_return false;
  if (broke_off(why))
    co_return co_await back_off(first_pause * (1 << breaks));
  if (why.code != grpc_code::unauthenticated || !at.renew)
    co_return false;
  // The switch belongs to the channel: nobody else may arm it.
  call_scope waiting{scope.deadline, nullptr, scope.traceparent};
  if (!co_await renewing.take(std::move(waiting)))
    co_return false;
  auto renewed = co_await renew(std::move(used_jwt));
  renewing.leave();
  co_return renewed && !over;
}

/// The parts rest each by itself, the switch would wake one of them only.
asio::awaitable<bool> router_run::back_off(std::chrono::milliseconds delay) {
  asio::steady_timer timer{settled.get_executor()};
  timer.expires_at(std::min(steady::now() + delay, scope.deadline));
  resting.insert(&timer);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  resting.erase(&timer);
  co_return !over && steady::now() < scope.deadline;
}

asio::awaitable<bool> router_run::renew(std::string used_jwt) {
  if (at.jwt != used_jwt)
    co_return true; // another part was quicker
  call_scope asking{std::min(scope.deadline, steady::now() + renewal_bound),
                    nullptr, scope.traceparent};
  auto fresh = co_await at.renew(std::move(asking));
  // The same once more: it was refused for another reason.
  if (!fresh || *fresh == used_jwt)
    co_return false;
  at.jwt = std::move(*fresh);
  co_return true;
}

/// Under one id: the router starts it once, however often it is asked.
asio::awaitable<grpc_reply> router_run::start(exec_request what) {
  what.task = at.task;
  what.exec = id;
  auto message = exec_start_request(what);
  auto acted = false;
  for (int breaks = 0;; ++breaks) {
    auto used = at.jwt;
    auto reply
      = co_await call("TaskExecStart", message, nullptr, scope.deadline);
    // One of the tries before may have been heard.
    acted |= reply.may_have_acted && !is_refusal(reply.status.code);
    reply.may_have_acted = acted;
    if (reply.status.ok()
        || !co_await goes_on_after(reply.status, std::move(used), breaks))
      co_return reply;
  }
}

/// Output from where we are; a stream that breaks is taken up at its offset.
asio::awaitable<void> router_run::read(bool is_err, output_sink sink) {
  auto keep = shared_from_this();
  std::uint64_t offset = 0;
  int breaks = 0;
  for (;;) {
    auto take = [&](std::string_view bytes) {
      auto data = text_field(bytes, 1);
      if (data) {
        offset += data->size();
        breaks = 0;
        sink(is_err ? output_stream::err : output_stream::out, *data);
      }
      return true;
    };
    auto used = at.jwt;
    auto message = stdio_read_request(at.task, id, offset, is_err);
    auto reply = co_await call("TaskExecStdioRead", std::move(message), take,
                               scope.deadline);
    if (reply.status.ok())
      break;
    if (!co_await goes_on_after(reply.status, std::move(used), breaks++)) {
      broken = reply.status.as_error("read output");
      break;
    }
  }
  part_ended();
}

asio::awaitable<void> router_run::feed(std::string input) {
  auto keep = shared_from_this();
  std::string_view rest = input;
  std::uint64_t offset = 0;
  auto last = false;
  for (int breaks = 0; !last;) {
    auto used = at.jwt;
    auto piece = rest.substr(0, stdin_piece_bytes);
    last = piece.size() == rest.size();
    auto message = stdin_write_request(at.task, id, offset, piece, last);
    auto reply = co_await call("TaskExecStdinWrite", std::move(message),
                               nullptr, scope.deadline);
    if (reply.status.ok()) {
      breaks = 0;
      rest.remove_prefix(piece.size());
      offset += piece.size();
      continue;
    }
    // It may have ended without reading: its end tells.
    if (ended
        || !co_await goes_on_after(reply.status, std::move(used), breaks++))
      break;
    last = false; // the offset makes it harmless to send it again
  }
  part_ended();
}

asio::awaitable<result<process_end>> router_run::wait() {
  int breaks = 0;
  while (steady::now() < scope.deadline) {
    std::optional<process_end> end;
    auto take = [&end](std::string_view bytes) {
      if (auto read = read_exec_wait(bytes))
        end = *read;
      return true;
    };
    auto used = at.jwt;
    auto message = exec_request_of(at.task, id);
    auto bound = steady::now() + wait_bound;
    auto reply = co_await call("TaskExecWait", std::move(message), take, bound);
    if (end)
      co_return *end;
    auto waited = reply.status.code == grpc_code::deadline_exceeded
      && steady::now() >= bound;
    if (reply.status.ok() || waited) {
      breaks = 0; // it still runs
      continue;
    }
    if (!co_await goes_on_after(reply.status, std::move(used), breaks++))
      co_return reply.status.as_error("wait for the process");
  }
  co_return fail(ec::timeout, "the deadline passed");
}

/// All of it, once it was started.
asio::awaitable<result<process_end>>
follow_at_modal(std::shared_ptr<router_run> e, std::string input,
                output_sink sink) {
  auto executor = e->settled.get_executor();
  e->open_parts = 3;
  asio::co_spawn(executor, e->read(false, sink), asio::detached);
  asio::co_spawn(executor, e->read(true, sink), asio::detached);
  asio::co_spawn(executor, e->feed(std::move(input)), asio::detached);
  auto end = co_await e->wait();
  e->ended = true;
  e->wake();
  if (!end)
    e->end();
  boost::system::error_code ignored;
  if (e->open_parts > 0)
    co_await e->settled.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  if (end && !e->broken)
    end = e->broken.error();
  co_return end;
}

} // namespace

asio::awaitable<process_outcome>
execute_at_modal(asio::any_io_executor executor, modal_router at,
                 process_request what, output_sink sink, call_scope scope) {
  auto e = std::make_shared<router_run>(executor, std::move(at), scope);
  exec_request r;
  r.argv = std::move(what.argv);
  r.cwd = std::move(what.cwd);
  for (auto& [name, value] : what.env)
    r.env.emplace(name, secret{std::move(value)});
  auto left
    = std::chrono::ceil<std::chrono::seconds>(scope.deadline - steady::now());
  r.timeout_seconds
    = static_cast<std::uint32_t>(std::max<std::int64_t>(1, left.count()));
  if (scope.cancel && scope.cancel->cancelled())
    co_return process_outcome{fail(ec::unavailable, "called off"), false};
  if (scope.cancel)
    scope.cancel->on_cancel([weak = e->weak_from_this()] {
      if (auto self = weak.lock())
        self->end();
    });
  auto begun = co_await e->start(std::move(r));
  result<process_end> end
    = begun.status.as_error("Modal did not start a process");
  if (begun.status.ok()) {
    tell_begun(scope);
    end = co_await follow_at_modal(e, std::move(what.input), std::move(sink));
  }
  if (scope.cancel)
    scope.cancel->clear();
  e->at.channel->close();
  if (!end)
    co_return process_outcome{end.error(), begun.may_have_acted};
  co_return *end;
}

} // namespace troupe::net
