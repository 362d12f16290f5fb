#include "net/providers/daytona.hpp"

#include "net/fail.hpp"
#include "net/providers/daytona_client.hpp"
#include "net/providers/daytona_messages.hpp"
#include "net/providers/multipart.hpp"
#include "net/providers/status.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

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
constexpr int max_list_pages = 100;

class daytona_provider final : public provider {
public:
  daytona_provider(std::shared_ptr<http_client> client, daytona_options options,
                   base_url api)
      : client_{std::move(client), options, std::move(api)}, options_{std::move(
                                                               options)} {}

  backend_kind kind() const override { return backend_kind::daytona; }
  std::string_view name() const override { return daytona_client::service; }
  std::vector<secret> secrets() const override { return {options_.api_key}; }
  result<void> ready() const override {
    if (options_.api_key.empty())
      return fail(ec::unavailable,
                  "Daytona has no API key: set "
                    + std::string{daytona_client::key_setting});
    return {};
  }

  bool keeps_for_later() const override { return true; }
  bool extends_life() const override { return true; }

  asio::awaitable<creation> create(sandbox_wish wish,
                                   call_scope scope) override;
  asio::awaitable<result<remote_sandbox>> rejoin(remote_sandbox sandbox,
                                                 std::chrono::seconds lifetime,
                                                 call_scope scope) override;
  asio::awaitable<result<command_end>> execute(const remote_sandbox& sandbox,
                                               command_request what,
                                               output_sink sink,
                                               call_scope scope) override;
  asio::awaitable<result<command_end>> run_script(const remote_sandbox& sandbox,
                                                  language lang,
                                                  script::remote_script script,
                                                  output_sink sink,
                                                  call_scope scope) override;
  asio::awaitable<result<void>> destroy(const remote_sandbox& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged>>> list(call_scope scope) override;

private:
  asio::awaitable<result<remote_sandbox>>
  wait_until_started(sandbox_state first, call_scope scope);
  asio::awaitable<result<void>> upload(const remote_sandbox& sandbox,
                                       std::string_view path,
                                       const std::string& text,
                                       call_scope scope);
  asio::awaitable<result<std::string>>
  begin_command(const remote_sandbox& sandbox, std::string line,
                call_scope scope);
  asio::awaitable<result<command_end>> follow(const remote_sandbox& sandbox,
                                              std::string command,
                                              output_sink sink,
                                              call_scope scope);

  daytona_client client_;
  daytona_options options_;
};

// -- sandboxes ---------------------------------------------------------------

asio::awaitable<provider::creation> daytona_provider::create(sandbox_wish wish,
                                                             call_scope scope) {
  auto body = creation_body(wish, options_);
  if (!body)
    co_return creation{body.error(), false};
  auto r = client_.to_api(http::verb::post, "/sandbox", scope);
  r.headers.set(http::field::content_type, "application/json");
  r.body = std::move(*body);
  auto done = co_await client_.send(std::move(r));
  if (!done.answer)
    co_return creation{done.answer.error(), done.may_have_acted};
  auto status = done.answer->status;
  if (!done.answer->ok())
    co_return creation{refused(daytona_client::service, "create a sandbox",
                               *done.answer, daytona_client::key_setting),
                       status == 409
                         || (status >= 500 && !is_refusal_status(status))};
  auto first = parse_sandbox(done.answer->body);
  if (!first)
    co_return creation{first.error(), true};
  auto started = co_await wait_until_started(std::move(*first), scope);
  auto odd = !started;
  co_return creation{std::move(started), odd};
}

asio::awaitable<result<remote_sandbox>>
daytona_provider::wait_until_started(sandbox_state now, call_scope scope) {
  auto delay = options_.poll_first;
  while (!now.ready()) {
    if (now.failed())
      co_return fail(ec::unavailable,
                     "Daytona's sandbox ended as " + now.state
                       + (now.reason.empty() ? "" : ": ") + now.reason);
    auto waited = co_await client_.pause(delay, scope);
    if (!waited)
      co_return waited.error();
    auto r = client_.to_api(
      http::verb::get, "/sandbox/" + percent_encode(now.sandbox.id), scope);
    auto reply = co_await client_.call(std::move(r), "show a sandbox");
    if (!reply)
      co_return reply.error();
    auto next = parse_sandbox(reply->body);
    if (!next)
      co_return next.error();
    if (next->sandbox.id != now.sandbox.id)
      co_return fail(ec::unavailable, "Daytona answered for another sandbox");
    now = std::move(*next);
  }
  if (!now.sandbox.keys.contains(std::string{toolbox_key})) {
    auto r = client_.to_api(http::verb::get,
                            "/sandbox/" + percent_encode(now.sandbox.id)
                              + "/toolbox-proxy-url",
                            scope);
    auto reply = co_await client_.call(std::move(r), "name its toolbox");
    if (!reply)
      co_return reply.error();
    auto body = json::parse_object(reply->body);
    auto* url = body ? body->if_contains("url") : nullptr;
    if (url && url->is_string())
      now.sandbox.keys.emplace(toolbox_key, std::string{url->as_string()});
  }
  co_return std::move(now.sandbox);
}

/// One that stopped meanwhile is gone: they are deleted when they stop.
asio::awaitable<result<remote_sandbox>>
daytona_provider::rejoin(remote_sandbox sandbox, std::chrono::seconds,
                         call_scope scope) {
  auto place = "/sandbox/" + percent_encode(sandbox.id);
  auto asked = client_.to_api(http::verb::get, place, scope);
  auto reply = co_await client_.call(std::move(asked), "show a sandbox");
  if (!reply)
    co_return reply.error();
  auto now = parse_sandbox(reply->body);
  if (!now)
    co_return now.error();
  if (now->sandbox.id != sandbox.id || !now->ready())
    co_return fail(ec::not_found, "Daytona's sandbox is " + now->state);
  // Its clock of idle time begins anew.
  auto used = client_.to_api(http::verb::post, place + "/last-activity", scope);
  used.body = "{}";
  used.idempotent = true;
  auto noted = co_await client_.call(std::move(used), "keep a sandbox");
  if (!noted)
    co_return noted.error();
  co_return std::move(sandbox);
}

asio::awaitable<result<void>>
daytona_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
  auto delay = options_.poll_first;
  for (;;) {
    auto r = client_.to_api(http::verb::delete_,
                            "/sandbox/" + percent_encode(sandbox.id), scope);
    auto reply = co_await client_.call(std::move(r), "delete a sandbox");
    if (!reply && reply.error().code == ec::not_found)
      co_return result<void>{};
    if (reply)
      co_return said_gone(reply->body);
    if (reply.error().code != ec::conflict)
      co_return reply.error();
    auto waited = co_await client_.pause(delay, scope); // it is changing state
    if (!waited)
      co_return waited.error();
  }
}

asio::awaitable<result<std::vector<provider::tagged>>>
daytona_provider::list(call_scope scope) {
  std::vector<tagged> all;
  std::string next;
  for (int page = 0; page < max_list_pages; ++page) {
    auto target
      = "/sandbox?limit=100&labels=" + percent_encode(R"({"troupe":"1"})");
    if (!next.empty())
      target += "&cursor=" + percent_encode(next);
    auto r = client_.to_api(http::verb::get, std::move(target), scope);
    auto reply = co_await client_.call(std::move(r), "list sandboxes");
    if (!reply)
      co_return reply.error();
    auto items = parse_list(reply->body);
    if (!items)
      co_return items.error();
    all.insert(all.end(), items->items.begin(), items->items.end());
    next = items->next;
    if (next.empty())
      break;
  }
  co_return all;
}

// -- inside ------------------------------------------------------------------

asio::awaitable<result<void>>
daytona_provider::upload(const remote_sandbox& sandbox, std::string_view path,
                         const std::string& text, call_scope scope) {
  auto boundary = make_boundary();
  auto r = client_.to_toolbox(sandbox, http::verb::post, "/files/bulk-upload",
                              scope);
  if (r) {
    r->headers.set(http::field::content_type, form_type(boundary));
    r->body = upload_body(path, text, boundary);
    r->idempotent = true;
  }
  auto reply = co_await client_.call(std::move(r), "take a file");
  if (!reply)
    co_return reply.error();
  co_return result<void>{};
}

asio::awaitable<result<std::string>>
daytona_provider::begin_command(const remote_sandbox& sandbox, std::string line,
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
    co_return there.error();
  json::object command;
  command["command"] = std::move(line);
  command["runAsync"] = true;
  auto r = client_.to_toolbox(
    sandbox, http::verb::post,
    "/process/session/" + std::string{session_name} + "/exec", scope);
  if (r)
    r->body = json::to_text(command);
  auto reply = co_await client_.call(std::move(r), "start a command");
  if (!reply)
    co_return reply.error();
  co_return parse_command_id(reply->body);
}

/// Looks at the command's end and its logs by turns; the logs come whole each
/// time, what is new of them goes on.
asio::awaitable<result<command_end>>
daytona_provider::follow(const remote_sandbox& sandbox, std::string command,
                         output_sink sink, call_scope scope) {
  auto base = "/process/session/" + std::string{session_name} + "/command/"
    + percent_encode(command);
  command_logs shown;
  auto delay = options_.poll_first;
  for (;;) {
    auto asked = client_.to_toolbox(sandbox, http::verb::get, base, scope);
    auto state = co_await client_.call(std::move(asked), "show a command");
    if (!state)
      co_return state.error();
    auto code = parse_command(state->body);
    if (!code)
      co_return code.error();
    auto r
      = client_.to_toolbox(sandbox, http::verb::get, base + "/logs", scope);
    if (r)
      r->max_body_bytes = max_log_bytes;
    auto reply = co_await client_.call(std::move(r), "show its output");
    if (!reply)
      co_return reply.error();
    auto logs = parse_logs(reply->body);
    if (!logs)
      co_return logs.error();
    if (logs->out.size() > shown.out.size())
      sink(output_stream::out,
           std::string_view{logs->out}.substr(shown.out.size()));
    if (logs->err.size() > shown.err.size())
      sink(output_stream::err,
           std::string_view{logs->err}.substr(shown.err.size()));
    shown = std::move(*logs);
    if (*code) {
      command_end end;
      end.exit_code = **code;
      co_return end;
    }
    auto waited = co_await client_.pause(delay, scope);
    if (!waited)
      co_return waited.error();
  }
}

asio::awaitable<result<command_end>>
daytona_provider::execute(const remote_sandbox& sandbox, command_request what,
                          output_sink sink, call_scope scope) {
  std::string_view input;
  if (!what.input.empty()) {
    auto there = co_await upload(sandbox, input_path, what.input, scope);
    if (!there)
      co_return there.error();
    input = input_path;
  }
  std::string_view env;
  if (!sandbox.env.empty()) {
    auto there
      = co_await upload(sandbox, env_path, env_lines(sandbox.env), scope);
    if (!there)
      co_return there.error();
    env = env_path;
  }
  auto line = session_line(what, input, env);
  auto command = co_await begin_command(sandbox, std::move(line), scope);
  if (!command)
    co_return command.error();
  auto end
    = co_await follow(sandbox, std::move(*command), std::move(sink), scope);
  co_return end;
}

asio::awaitable<result<command_end>>
daytona_provider::run_script(const remote_sandbox& sandbox, language lang,
                             script::remote_script script, output_sink sink,
                             call_scope scope) {
  auto path = std::string{script_path};
  path += lang == language::python ? ".py" : ".cjs";
  auto there = co_await upload(sandbox, path, script.text(), scope);
  if (!there)
    co_return there.error();
  command_request what;
  what.argv = {lang == language::python ? "python3" : "node", path};
  auto end = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return end;
}

} // namespace

result<std::shared_ptr<provider>>
make_daytona(std::shared_ptr<http_client> client, daytona_options options) {
  auto api = parse_base_url(options.api_url);
  if (!api)
    return api.error().within("daytona.api-url");
  return std::static_pointer_cast<provider>(std::make_shared<daytona_provider>(
    std::move(client), std::move(options), std::move(*api)));
}

} // namespace troupe::net
