#include "net/providers/daytona/exec.hpp"

#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/messages.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace daytona;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view session_name = "troupe";
constexpr std::string_view script_path = "/tmp/troupe-script";
constexpr std::string_view input_path = "/tmp/troupe-input";
constexpr std::string_view env_path = "/tmp/troupe-env";
constexpr std::size_t max_log_bytes = 64u << 20;
// Logs come whole each time: a long one is not asked for at every look.
constexpr std::size_t log_bytes_per_second = 1u << 20;

std::string session_target(std::string_view more) {
  return "/process/session/" + std::string{session_name} + std::string{more};
}

} // namespace

/// How much of a command's output was shown.
struct daytona_exec::log_view {
  output_sink sink;
  std::size_t out = 0;
  std::size_t err = 0;
  steady::time_point next{}; // not to be asked for before
  bool too_long = false;
};

asio::awaitable<result<void>>
daytona_exec::upload(const sandbox_handle& sandbox, std::string_view path,
                     const std::string& text, call_scope scope) {
  std::vector<sandbox_file> files;
  files.push_back({std::string{path}, text});
  auto what = daytona::upload(files);
  auto reply = co_await client_.perform(sandbox, std::move(what), scope);
  if (!reply)
    co_return reply.error();
  co_return result<void>{};
}

asio::awaitable<daytona_exec::begun>
daytona_exec::begin(const sandbox_handle& sandbox, std::string line,
                    call_scope scope) {
  json::object session;
  session["sessionId"] = session_name;
  auto opened
    = client_.to_toolbox(sandbox, http::verb::post, "/process/session", scope);
  if (opened) {
    opened->body = json::to_text(session);
    opened->idempotent = true;
  }
  auto there = co_await client_.call(std::move(opened), "open a session");
  if (!there && there.error().code != ec::conflict)
    co_return begun{there.error(), false};
  json::object command;
  command["command"] = std::move(line);
  command["runAsync"] = true;
  auto r = client_.to_toolbox(sandbox, http::verb::post,
                              session_target("/exec"), scope);
  if (r)
    r->body = json::to_text(command);
  auto acted = false;
  auto reply = co_await client_.call(std::move(r), "start a command", &acted);
  if (!reply)
    co_return begun{reply.error(), acted};
  co_return begun{parse_command_id(reply->body), true};
}

/// Looks at the command's end and its logs by turns.
asio::awaitable<result<process_end>>
daytona_exec::follow(const sandbox_handle& sandbox, std::string command,
                     output_sink sink, call_scope scope) {
  auto base = session_target("/command/" + percent_encode(command));
  log_view log{std::move(sink)};
  daytona_client::poll_interval interval;
  for (;;) {
    auto asked = client_.to_toolbox(sandbox, http::verb::get, base, scope);
    auto state = co_await client_.call(std::move(asked), "show a command");
    if (!state)
      co_return state.error();
    auto code = parse_command(state->body);
    if (!code)
      co_return code.error();
    auto ended = code->has_value();
    if (!log.too_long && (ended || steady::now() >= log.next)) {
      auto seen = co_await emit_new_output(sandbox, base, log, ended, scope);
      if (!seen)
        co_return seen.error();
    }
    if (ended) {
      process_end end;
      end.exit_code = **code;
      if (log.too_long)
        end.detail = "its output is longer than Daytona's logs are read";
      co_return end;
    }
    auto waited = co_await client_.pause(interval, scope);
    if (!waited)
      co_return waited.error();
  }
}

asio::awaitable<result<void>>
daytona_exec::emit_new_output(const sandbox_handle& sandbox,
                              const std::string& command, log_view& log,
                              bool ended, call_scope scope) {
  auto r
    = client_.to_toolbox(sandbox, http::verb::get, command + "/logs", scope);
  if (r)
    r->max_body_bytes = max_log_bytes;
  auto acted = false;
  auto reply = co_await client_.call(std::move(r), "show its output", &acted);
  if (!reply && acted && reply.error().code == ec::exhausted) {
    log.too_long = true; // the command goes on, and its end counts
    co_return result<void>{};
  }
  if (!reply)
    co_return reply.error();
  auto logs = parse_logs(reply->body);
  if (!logs)
    co_return logs.error();
  if (auto news = new_output(logs->out, log.out, ended); !news.empty())
    log.sink(output_stream::out, news);
  if (auto news = new_output(logs->err, log.err, ended); !news.empty())
    log.sink(output_stream::err, news);
  log.next = steady::now()
    + std::chrono::milliseconds{reply->body.size() * 1'000
                                / log_bytes_per_second};
  co_return result<void>{};
}

asio::awaitable<process_outcome>
daytona_exec::execute(const sandbox_handle& sandbox, process_request what,
                      output_sink sink, call_scope scope) {
  std::string_view input;
  if (!what.input.empty()) {
    auto there = co_await upload(sandbox, input_path, what.input, scope);
    if (!there)
      co_return process_outcome{there.error(), false};
    input = input_path;
  }
  std::string_view env;
  if (!sandbox.env.empty()) {
    auto there
      = co_await upload(sandbox, env_path, env_lines(sandbox.env), scope);
    if (!there)
      co_return process_outcome{there.error(), false};
    env = env_path;
  }
  auto line = session_line(what, input, env);
  auto started = co_await begin(sandbox, std::move(line), scope);
  if (!started.command)
    co_return process_outcome{started.command.error(), started.may_have_begun};
  tell_begun(scope);
  auto end = co_await follow(sandbox, std::move(*started.command),
                             std::move(sink), scope);
  if (!end)
    co_return process_outcome{end.error(), true};
  co_return *end;
}

asio::awaitable<process_outcome>
daytona_exec::run_script(const sandbox_handle& sandbox, language lang,
                         sandbox_script script, output_sink sink,
                         call_scope scope) {
  auto path = std::string{script_path};
  path += lang == language::python ? ".py" : ".cjs";
  auto there = co_await upload(sandbox, path, script.text(), scope);
  if (!there)
    co_return process_outcome{there.error(), false};
  process_request what;
  what.argv = {lang == language::python ? "python3" : "node", path};
  auto done
    = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return done;
}

} // namespace troupe::net
