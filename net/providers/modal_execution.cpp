#include "net/providers/modal_execution.hpp"

#include "net/fail.hpp"
#include "net/providers/modal_messages.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe::net {

namespace asio = boost::asio;
using namespace modal;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view router = "/modal.task_command_router."
                                    "TaskCommandRouter/";
constexpr std::size_t stdin_piece_bytes = 1u << 20;
constexpr auto wait_bound = 60s; // of one TaskExecWait
constexpr int max_breaks = 4;    // in a row, of one call
constexpr auto break_pause = 100ms;

/// A connection that broke under the call: it is taken up on another one.
bool broke_off(const grpc_status& status) {
  return status.code == grpc_code::unavailable
    || status.code == grpc_code::internal;
}

/// One process in one sandbox, seen through the sandbox's router.
struct execution : std::enable_shared_from_this<execution> {
  execution(asio::any_io_executor ex, std::shared_ptr<grpc_channel> c)
      : channel{std::move(c)}, settled{ex} {
    settled.expires_at(steady::time_point::max());
  }

  asio::awaitable<grpc_reply> call(std::string method, std::string message,
                                   std::function<bool(std::string_view)> take,
                                   steady::time_point until);
  asio::awaitable<void> read(bool is_err, output_sink sink);
  asio::awaitable<void> feed(std::string input);
  asio::awaitable<result<command_end>> wait();

  bool called_off() const { return scope.abort && scope.abort->tripped(); }

  void part_ended() {
    if (--open_parts == 0)
      settled.cancel();
  }

  std::shared_ptr<grpc_channel> channel;
  asio::steady_timer settled;
  call_scope scope;
  std::string task;
  std::string id = make_uuid();
  std::string jwt;
  int open_parts = 0;
  result<void> broken; // the first trouble of any part
};

asio::awaitable<grpc_reply>
execution::call(std::string method, std::string message,
                std::function<bool(std::string_view)> take,
                steady::time_point until) {
  grpc_call c;
  c.path = std::string{router} + std::move(method);
  c.metadata = {{"authorization", "Bearer " + jwt}};
  c.message = std::move(message);
  c.deadline = std::min(until, scope.deadline);
  c.traceparent = scope.traceparent;
  c.on_message = std::move(take);
  auto reply = co_await channel->call(std::move(c));
  co_return reply;
}

/// Output from where we are; a stream that breaks is taken up at its offset.
asio::awaitable<void> execution::read(bool is_err, output_sink sink) {
  auto keep = shared_from_this();
  std::uint64_t offset = 0;
  for (int tries = 0; tries < max_breaks && !called_off(); ++tries) {
    auto take = [&](std::string_view bytes) {
      auto data = text_field(bytes, 1);
      if (data) {
        offset += data->size();
        tries = 0;
        sink(is_err ? output_stream::err : output_stream::out, *data);
      }
      return true;
    };
    auto message = stdio_read_request(task, id, offset, is_err);
    auto reply = co_await call("TaskExecStdioRead", std::move(message), take,
                               scope.deadline);
    if (reply.status.ok())
      break;
    if (!broke_off(reply.status)) {
      broken = reply.status.as_error("read output");
      break;
    }
  }
  part_ended();
}

asio::awaitable<void> execution::feed(std::string input) {
  auto keep = shared_from_this();
  std::string_view rest = input;
  std::uint64_t offset = 0;
  auto last = false;
  for (int breaks = 0; !last;) {
    auto piece = rest.substr(0, stdin_piece_bytes);
    last = piece.size() == rest.size();
    auto message = stdin_write_request(task, id, offset, piece, last);
    auto reply = co_await call("TaskExecStdinWrite", std::move(message),
                               nullptr, scope.deadline);
    if (broke_off(reply.status) && !called_off() && ++breaks < max_breaks) {
      last = false; // the offset makes it harmless to send it again
      continue;
    }
    if (!reply.status.ok())
      break; // it may have ended without reading: its end tells
    rest.remove_prefix(piece.size());
    offset += piece.size();
  }
  part_ended();
}

asio::awaitable<result<command_end>> execution::wait() {
  int breaks = 0;
  while (steady::now() < scope.deadline) {
    std::optional<command_end> end;
    auto take = [&end](std::string_view bytes) {
      if (auto read = read_exec_wait(bytes))
        end = *read;
      return true;
    };
    auto message = exec_request_of(task, id);
    auto reply = co_await call("TaskExecWait", std::move(message), take,
                               steady::now() + wait_bound);
    if (end)
      co_return *end;
    auto waiting
      = reply.status.ok() || reply.status.code == grpc_code::deadline_exceeded;
    breaks = waiting ? 0 : breaks + 1;
    if (!waiting
        && (called_off() || !broke_off(reply.status) || breaks >= max_breaks))
      co_return reply.status.as_error("wait for the process");
    if (!waiting)
      co_await pause(settled.get_executor(), break_pause, scope.deadline,
                     nullptr);
  }
  co_return fail(ec::timeout, "the deadline passed");
}

} // namespace

asio::awaitable<result<command_end>>
execute_at_modal(asio::any_io_executor executor, modal_router at,
                 environment sandbox_env, command_request what,
                 output_sink sink, call_scope scope) {
  auto e = std::make_shared<execution>(executor, at.channel);
  e->scope = scope;
  e->task = std::move(at.task);
  e->jwt = std::move(at.jwt);
  exec_request r;
  r.task = e->task;
  r.exec = e->id;
  r.argv = what.argv;
  r.cwd = what.cwd;
  r.env = std::move(what.env);
  for (const auto& [name, value] : sandbox_env)
    r.env.try_emplace(name, value.reveal());
  auto left
    = std::chrono::ceil<std::chrono::seconds>(scope.deadline - steady::now());
  r.timeout_seconds
    = static_cast<std::uint32_t>(std::max<std::int64_t>(1, left.count()));
  // Calling off closes the router's connection, which ends every part.
  if (scope.abort)
    scope.abort->arm([c = at.channel] { c->close(); });
  auto message = exec_start_request(r);
  auto begun = co_await e->call("TaskExecStart", std::move(message), nullptr,
                                scope.deadline);
  result<command_end> end = fail(ec::internal, "not run");
  if (begun.status.ok()) {
    e->open_parts = 3;
    asio::co_spawn(executor, e->read(false, sink), asio::detached);
    asio::co_spawn(executor, e->read(true, sink), asio::detached);
    asio::co_spawn(executor, e->feed(std::move(what.input)), asio::detached);
    end = co_await e->wait();
    if (!end)
      at.channel->close();
    boost::system::error_code ignored;
    if (e->open_parts > 0)
      co_await e->settled.async_wait(
        asio::redirect_error(asio::use_awaitable, ignored));
    if (end && !e->broken)
      end = e->broken.error();
  } else {
    end = begun.status.as_error("Modal did not start a process");
  }
  if (scope.abort)
    scope.abort->disarm();
  at.channel->close();
  co_return end;
}

} // namespace troupe::net
