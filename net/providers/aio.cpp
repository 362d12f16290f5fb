#include "net/providers/aio.hpp"

#include "net/client/address_rules.hpp"
#include "net/fail.hpp"
#include "net/providers/aio_messages.hpp"
#include "net/providers/shell_quote.hpp"
#include "net/providers/status.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <signal.h>

#include <algorithm>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace aio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view service_name = "AIO sandbox";
constexpr std::string_view key_setting = "aio.api-key";
// For what is tidied up when a run's own time may be over.
constexpr std::chrono::seconds late_patience{5};
constexpr std::string_view directory_prefix = "/tmp/troupe-";

/// What a container with JWT_PUBLIC_KEY asks for: header, claims, signature.
bool is_jwt(std::string_view key) {
  return key.starts_with("eyJ") && std::ranges::count(key, '.') == 2;
}

class aio_provider final : public provider,
                           public std::enable_shared_from_this<aio_provider> {
public:
  aio_provider(std::shared_ptr<http_client> client, aio_options options)
      : client_{std::move(client)}, options_{std::move(options)},
        service_{options_.tls, options_.host, options_.port, ""} {}

  backend_kind kind() const override { return backend_kind::aio; }
  std::string_view name() const override { return service_name; }
  std::vector<secret> secrets() const override { return {options_.api_key}; }
  result<void> ready() const override {
    if (options_.host.empty())
      return fail(ec::unavailable,
                  "no AIO sandbox is configured: set aio.host (SANDBOX_HOST)");
    return {};
  }

  /// All runs are in one container: none sees another one's packages.
  std::string package_folder(const remote_sandbox& sandbox) const override {
    return directory(sandbox) + "/site-packages";
  }

  asio::awaitable<creation> create(sandbox_wish wish,
                                   call_scope scope) override;
  asio::awaitable<execution> execute(const remote_sandbox& sandbox,
                                     command_request what, output_sink sink,
                                     call_scope scope) override;
  asio::awaitable<execution> run_script(const remote_sandbox& sandbox,
                                        language lang,
                                        script::remote_script script,
                                        output_sink sink,
                                        call_scope scope) override;
  asio::awaitable<result<void>> destroy(const remote_sandbox& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged>>> list(call_scope scope) override;

private:
  asio::awaitable<result<json::object>>
  call(std::string target, json::object body, std::string_view doing,
       call_scope scope, bool* acted = nullptr);
  asio::awaitable<result<std::string>>
  plain_command(std::string line, call_scope scope, bool* acted = nullptr);
  void close_session(std::string session, std::string traceparent);
  asio::awaitable<result<void>>
  write_file(std::string path, const std::string& text, call_scope scope);
  asio::awaitable<result<command_end>>
  follow(command_report now, output_sink sink, call_scope scope);
  static std::string directory(const remote_sandbox& sandbox) {
    return std::string{directory_prefix} + sandbox.id;
  }
  static json::object variables(const remote_sandbox& sandbox,
                                const command_request& what);

  std::shared_ptr<http_client> client_;
  aio_options options_;
  base_url service_;
};

asio::awaitable<result<json::object>>
aio_provider::call(std::string target, json::object body,
                   std::string_view doing, call_scope scope, bool* acted) {
  client_request r;
  r.service = service_;
  r.rule = operators_rule(service_, options_.allow_private);
  r.method = http::verb::post;
  r.target = std::move(target);
  r.headers.set(http::field::content_type, "application/json");
  r.headers.set(http::field::accept, "application/json");
  if (is_jwt(options_.api_key.reveal()))
    r.headers.set(http::field::authorization,
                  "Bearer " + options_.api_key.reveal());
  else if (!options_.api_key.empty())
    r.headers.set("X-AIO-API-Key", options_.api_key.reveal());
  r.body = json::to_text(body);
  r.deadline = scope.deadline;
  r.abort = scope.abort;
  r.traceparent = scope.traceparent;
  r.max_body_bytes = max_reply_bytes;
  auto done = co_await client_->send(std::move(r));
  if (acted)
    *acted = may_have_acted(done);
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(service_name, doing, *done.answer, key_setting);
  co_return unwrap(done.answer->body, doing);
}

asio::awaitable<result<std::string>>
aio_provider::plain_command(std::string line, call_scope scope, bool* acted) {
  json::object body;
  body["command"] = std::move(line);
  body["timeout"] = 30;
  body["hard_timeout"] = 30;
  auto data = co_await call("/v1/bash/exec", std::move(body), "run a command",
                            scope, acted);
  if (!data)
    co_return data.error();
  auto report = parse_report(*data);
  if (!report)
    co_return report.error();
  close_session(report->session, scope.traceparent);
  if (report->status != "completed" || report->exit_code != 0)
    co_return fail(ec::unavailable,
                   "a command of ours failed in the AIO sandbox");
  co_return std::move(report->out);
}

/// Each command opens one, and the container is there for years. Nobody waits
/// for it: the command's end is known by now.
void aio_provider::close_session(std::string session, std::string traceparent) {
  if (session.empty())
    return;
  auto work = [](std::shared_ptr<aio_provider> self, std::string path,
                 std::string trace) -> asio::awaitable<void> {
    call_scope soon{steady::now() + late_patience, nullptr, std::move(trace)};
    json::object nothing;
    (void)co_await self->call(std::move(path), std::move(nothing),
                              "close a session", std::move(soon));
  };
  auto path
    = "/v1/bash/sessions/" + percent_encode(std::move(session)) + "/close";
  asio::co_spawn(
    client_->executor(),
    work(shared_from_this(), std::move(path), std::move(traceparent)),
    asio::detached);
}

asio::awaitable<provider::creation> aio_provider::create(sandbox_wish wish,
                                                         call_scope scope) {
  if (wish.run->network.mode != network_mode::open)
    co_return creation{
      fail(ec::invalid_request,
           "network: an AIO sandbox cannot be kept from the network; use "
           "\"public\" or another backend"),
      false};
  remote_sandbox box;
  box.id = wish.tag;
  box.env = wish.run->env;
  auto line = "mkdir -m 700 " + shell_quote(directory(box));
  auto may_exist = false;
  auto made = co_await plain_command(std::move(line), scope, &may_exist);
  if (!made)
    co_return creation{made.error(), may_exist};
  co_return creation{std::move(box), false};
}

asio::awaitable<result<void>> aio_provider::write_file(std::string path,
                                                       const std::string& text,
                                                       call_scope scope) {
  json::object body;
  body["file"] = std::move(path);
  body["content"] = text;
  body["encoding"] = "utf-8";
  auto data
    = co_await call("/v1/file/write", std::move(body), "write a file", scope);
  if (!data)
    co_return data.error();
  co_return result<void>{};
}

/// Its own variables, and the way to its own packages. What it says itself
/// about that comes first, as it would anywhere.
json::object aio_provider::variables(const remote_sandbox& sandbox,
                                     const command_request& what) {
  json::object env;
  for (const auto& [name, value] : sandbox.env)
    env[name] = value.reveal();
  for (const auto& [name, value] : what.env)
    env[name] = value;
  std::string path = directory(sandbox) + "/site-packages";
  if (auto* own = env.if_contains("PYTHONPATH"); own && own->is_string())
    path = std::string{own->as_string()} + ":" + path;
  env["PYTHONPATH"] = path;
  return env;
}

asio::awaitable<execution> aio_provider::execute(const remote_sandbox& sandbox,
                                                 command_request what,
                                                 output_sink sink,
                                                 call_scope scope) {
  auto line = shell_line(what.argv);
  if (what.input.empty()) {
    line += " < /dev/null";
  } else {
    auto path = directory(sandbox) + "/.input";
    auto there = co_await write_file(path, what.input, scope);
    if (!there)
      co_return execution{there.error(), false};
    line += " < " + shell_quote(path);
  }
  auto left
    = std::chrono::ceil<std::chrono::seconds>(scope.deadline - steady::now());
  json::object body;
  body["command"] = std::move(line);
  body["exec_dir"] = what.cwd.empty() ? directory(sandbox) : what.cwd;
  body["env"] = variables(sandbox, what);
  body["async_mode"] = true;
  body["hard_timeout"] = std::max<std::int64_t>(1, left.count());
  body["max_output_length"] = 0;
  auto acted = false;
  auto begun = co_await call("/v1/bash/exec", std::move(body),
                             "start a command", scope, &acted);
  if (!begun)
    co_return execution{begun.error(), acted};
  tell_begun(scope);
  auto first = parse_report(*begun);
  if (!first)
    co_return execution{first.error(), true};
  if (first->session.empty() || first->command.empty())
    co_return execution{
      fail(ec::unavailable, "the AIO sandbox named no command"), true};
  auto session = first->session;
  auto end = co_await follow(std::move(*first), std::move(sink), scope);
  if (!end) {
    // Whatever went wrong, nothing goes on running in a container that others
    // use; the scope may be over, so this has one of its own.
    json::object kill;
    kill["session_id"] = session;
    kill["signal"] = "SIGKILL";
    call_scope late{steady::now() + late_patience, nullptr, scope.traceparent};
    (void)co_await call("/v1/bash/kill", std::move(kill), "kill", late);
  }
  close_session(std::move(session), scope.traceparent);
  if (!end)
    co_return execution{end.error(), true};
  co_return *end;
}

/// Long polls: each answer carries what is new since the offsets given.
asio::awaitable<result<command_end>>
aio_provider::follow(command_report now, output_sink sink, call_scope scope) {
  auto session = now.session;
  auto command = now.command;
  std::int64_t offset = 0;
  std::int64_t err_offset = 0;
  for (;;) {
    if (!now.out.empty())
      sink(output_stream::out, now.out);
    if (!now.err.empty())
      sink(output_stream::err, now.err);
    offset = std::max(offset, now.offset);
    err_offset = std::max(err_offset, now.err_offset);
    if (!now.running())
      break;
    json::object body;
    body["session_id"] = session;
    body["command_id"] = command;
    body["offset"] = offset;
    body["stderr_offset"] = err_offset;
    body["wait"] = true;
    body["wait_timeout"]
      = static_cast<std::int64_t>(options_.poll_wait.count());
    auto data = co_await call("/v1/bash/output", std::move(body),
                              "show its output", scope);
    if (!data)
      co_return data.error();
    auto next = parse_report(*data);
    if (!next)
      co_return next.error();
    now = std::move(*next);
  }
  if (now.status == "timed_out")
    co_return fail(ec::timeout, "the AIO sandbox ended the command");
  command_end end;
  end.exit_code = now.exit_code;
  end.signaled = now.status == "killed";
  if (end.signaled)
    end.signal = SIGKILL; // it is not told, and that is what we ask for
  co_return end;
}

asio::awaitable<execution>
aio_provider::run_script(const remote_sandbox& sandbox, language lang,
                         script::remote_script script, output_sink sink,
                         call_scope scope) {
  auto python = lang == language::python;
  auto path = directory(sandbox) + (python ? "/.script.py" : "/.script.cjs");
  auto there = co_await write_file(path, script.text(), scope);
  if (!there)
    co_return execution{there.error(), false};
  command_request what;
  what.argv = {python ? "python3" : "node", path};
  auto done
    = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return done;
}

asio::awaitable<result<void>>
aio_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
  auto gone = co_await plain_command(
    "rm -rf -- " + shell_quote(directory(sandbox)), scope);
  if (!gone)
    co_return gone.error();
  co_return result<void>{};
}

asio::awaitable<result<std::vector<provider::tagged>>>
aio_provider::list(call_scope scope) {
  auto names = co_await plain_command("ls -1 /tmp", scope);
  if (!names)
    co_return names.error();
  std::vector<tagged> out;
  std::string_view rest = *names;
  auto prefix = directory_prefix.substr(directory_prefix.rfind('/') + 1);
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with(prefix)) {
      std::string tag{line.substr(prefix.size())};
      out.push_back({tag, tag});
    }
  }
  co_return out;
}

} // namespace

result<std::shared_ptr<provider>> make_aio(std::shared_ptr<http_client> client,
                                           aio_options options) {
  if (!options.host.empty()) {
    auto url = parse_base_url("http://" + options.host);
    if (!url)
      return url.error().within("aio.host");
  }
  return std::static_pointer_cast<provider>(
    std::make_shared<aio_provider>(std::move(client), std::move(options)));
}

} // namespace troupe::net
