#include "net/providers/e2b/self_test.hpp"

#include "net/providers/e2b/calls.hpp"
#include "runtime/base/error.hpp"
#include "runtime/sandboxes/self_test_files.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace troupe::net {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using told = result<std::string>;

constexpr auto extended = 120s;

struct stage {
  sandbox_provider& whole;
  e2b_client client;
  std::shared_ptr<e2b_exec> inside;
};

error odd(std::string text) {
  return fail(ec::unavailable, std::move(text));
}

asio::awaitable<told> state_of(stage on, sandbox_handle in, call_scope scope) {
  auto what = e2b::show_sandbox(in.id);
  auto shown = co_await on.client.perform(in, std::move(what), scope);
  if (!shown)
    co_return shown.error();
  co_return e2b::parse_state(shown->body);
}

asio::awaitable<told> extend(stage on, sandbox_handle in, call_scope scope) {
  auto what = e2b::set_timeout(in.id, extended);
  auto set = co_await on.client.perform(in, std::move(what), scope);
  if (!set)
    co_return set.error();
  auto state = co_await state_of(on, in, scope);
  if (state && *state != "running")
    co_return odd("it is " + *state + " instead of running");
  if (!state)
    co_return state.error();
  co_return std::string{"extended, and it runs"};
}

// -- a process, ended from outside --------------------------------------------

/// Nobody else's line ends so.
constexpr std::string_view sleeper = "sleep 86399";

/// Beside the stream that waits for its end, and ends that one if it cannot.
asio::awaitable<void> end_sleeper(stage on, sandbox_handle in, call_scope scope,
                                  std::shared_ptr<cancellation> stream,
                                  std::shared_ptr<error> why) {
  auto what = e2b::list_processes();
  auto listed = co_await on.client.perform(in, std::move(what), scope);
  auto pid = listed ? e2b::find_process(listed->body, sleeper)
                    : result<std::uint32_t>{listed.error()};
  if (!pid) {
    *why = pid.error();
    stream->cancel();
    co_return;
  }
  what = e2b::send_signal(*pid, "SIGNAL_SIGTERM");
  auto sent = co_await on.client.perform(in, std::move(what), scope);
  if (sent)
    co_return;
  *why = sent.error();
  stream->cancel();
}

asio::awaitable<told> signal(stage on, sandbox_handle in, call_scope scope) {
  auto why = std::make_shared<error>();
  auto stream = scope;
  stream.cancel = std::make_shared<cancellation>();
  scope.cancel = nullptr; // a switch serves one call at a time
  // By now the process is there: its stream began.
  stream.begun = [on, in, scope, why, waits = stream.cancel] {
    asio::co_spawn(on.client.http().executor(),
                   end_sleeper(on, in, scope, waits, why), asio::detached);
  };
  process_request what;
  what.argv = {"/bin/sh", "-c", "exec " + std::string{sleeper}};
  auto nobody = [](output_stream, std::string_view) {};
  auto done = co_await on.inside->execute(in, std::move(what), nobody, stream);
  if (!why->text.empty())
    co_return *why;
  if (!done.end)
    co_return done.end.error();
  if (!done.end->signaled)
    co_return odd("the process ended by itself, not by the signal");
  co_return std::string{"found and ended by SIGTERM"};
}

// -- contexts -----------------------------------------------------------------

asio::awaitable<told> run_in(stage on, sandbox_handle in, std::string context,
                             std::string code, call_scope scope) {
  std::string out;
  auto sink = [&out](output_stream to, std::string_view bytes) {
    if (to == output_stream::out)
      out += bytes;
  };
  auto done = co_await on.inside->run_in_context(
    in, std::move(context), std::move(code), sink, std::move(scope));
  if (!done.end)
    co_return done.end.error();
  if (done.end->exit_code != 0)
    co_return fail(ec::not_found, done.end->detail);
  co_return out;
}

asio::awaitable<told> know_context(stage on, sandbox_handle in,
                                   std::string context, bool expected,
                                   call_scope scope) {
  auto what = e2b::list_contexts();
  auto reply = co_await on.client.perform(in, std::move(what), scope);
  if (!reply)
    co_return reply.error();
  auto all = e2b::parse_contexts(reply->body);
  if (!all)
    co_return all.error();
  auto known = std::ranges::find(*all, context) != all->end();
  if (known != expected)
    co_return odd(known ? "a removed context is still listed"
                        : "a new context is not listed");
  co_return std::string{};
}

/// A context keeps what was done in it, until it is begun again.
asio::awaitable<told> remember(stage on, sandbox_handle in, std::string context,
                               call_scope scope) {
  auto said = co_await run_in(on, in, context, "kept = 41", scope);
  if (said)
    said = co_await run_in(on, in, context, "print(kept + 1)", scope);
  if (!said)
    co_return said.error();
  if (*said != "42\n")
    co_return odd("the context forgot what was done in it");
  auto what = e2b::restart_context(context);
  auto again = co_await on.client.perform(in, std::move(what), scope);
  if (!again)
    co_return again.error();
  said = co_await run_in(on, in, context, "print(kept + 1)", scope);
  if (said)
    co_return odd("the context was not restarted");
  if (said.error().code != ec::not_found)
    co_return said.error();
  co_return std::string{};
}

asio::awaitable<told> contexts(stage on, sandbox_handle in, call_scope scope) {
  auto what = e2b::create_context("python", "/tmp");
  auto made = co_await on.client.perform(in, std::move(what), scope);
  if (!made)
    co_return made.error();
  auto id = e2b::parse_context(made->body);
  if (!id)
    co_return id.error();
  auto fine = co_await know_context(on, in, *id, true, scope);
  if (fine)
    fine = co_await remember(on, in, *id, scope);
  if (!fine)
    co_return fine.error();
  what = e2b::remove_context(*id);
  auto gone = co_await on.client.perform(in, std::move(what), scope);
  if (!gone)
    co_return gone.error();
  fine = co_await know_context(on, in, *id, false, scope);
  if (!fine)
    co_return fine.error();
  co_return std::string{"state is kept until a context is restarted"};
}

// -- pause --------------------------------------------------------------------

asio::awaitable<told> pause(stage on, sandbox_handle in, call_scope scope) {
  auto what = e2b::pause_sandbox(in.id);
  auto paused = co_await on.client.perform(in, std::move(what), scope);
  if (!paused)
    co_return paused.error();
  auto state = co_await state_of(on, in, scope);
  if (state && *state != "paused")
    co_return odd("it is " + *state + " instead of paused");
  if (!state)
    co_return state.error();
  auto back = co_await on.whole.reconnect(in, extended, scope);
  if (!back)
    co_return back.error();
  state = co_await state_of(on, in, scope);
  if (state && *state != "running")
    co_return odd("it is " + *state + " after it was resumed");
  if (!state)
    co_return state.error();
  co_return std::string{"paused, and runs again"};
}

using act = asio::awaitable<told> (*)(stage, sandbox_handle, call_scope);

} // namespace

std::vector<sandbox_self_test>
e2b_self_tests(sandbox_provider& whole, e2b_client client,
               std::shared_ptr<e2b_exec> inside) {
  std::vector<sandbox_self_test> all;
  all.push_back(files_self_test(*whole.files()));
  auto add = [&, on = stage{whole, std::move(client), std::move(inside)}](
               std::string name, act what) {
    all.push_back(
      {std::move(name), [on, what](sandbox_handle in, call_scope scope) {
         return what(on, std::move(in), std::move(scope));
       }});
  };
  add("time limit", extend);
  add("ending a process", signal);
  add("code contexts", contexts);
  add("pause and resume", pause);
  return all;
}

} // namespace troupe::net
