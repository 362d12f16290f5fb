#include "net/providers/aio/provider.hpp"

#include "net/providers/aio/client.hpp"
#include "net/providers/aio/files.hpp"
#include "net/providers/aio/messages.hpp"
#include "net/providers/aio/self_test.hpp"
#include "net/providers/shell_quote.hpp"
#include "runtime/base/error.hpp"

#include <signal.h>

#include <algorithm>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace aio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view directory_prefix = "/tmp/troupe-";

class aio_provider final : public sandbox_provider {
public:
  explicit aio_provider(aio_client client)
      : client_{std::move(client)}, files_{make_aio_files(client_)} {}

  backend_kind kind() const override { return backend_kind::aio; }
  std::string_view name() const override { return aio_client::service_name; }
  std::vector<secret> secrets() const override {
    return {client_.options().api_key};
  }
  result<void> ready() const override {
    if (client_.options().host.empty())
      return fail(ec::unavailable,
                  "no AIO sandbox is configured: set aio.host (SANDBOX_HOST)");
    return {};
  }

  sandbox_capabilities capabilities() const override { return {}; }

  /// All runs are in one container: none sees another one's packages.
  std::string package_folder(const sandbox_handle& sandbox) const override {
    return directory(sandbox) + "/site-packages";
  }

  asio::awaitable<sandbox_creation> create(sandbox_request wanted,
                                           call_scope scope) override;
  asio::awaitable<process_outcome> execute(const sandbox_handle& sandbox,
                                           process_request what,
                                           output_sink sink,
                                           call_scope scope) override;
  asio::awaitable<process_outcome> run_script(const sandbox_handle& sandbox,
                                              language lang,
                                              sandbox_script script,
                                              output_sink sink,
                                              call_scope scope) override;
  asio::awaitable<result<void>> destroy(const sandbox_handle& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged_sandbox>>>
  list(call_scope scope) override;

  sandbox_files* files() override { return files_.get(); }
  std::vector<sandbox_self_test> self_tests() override {
    return aio_self_tests(*this, client_);
  }

private:
  asio::awaitable<result<void>> put(std::string path, const std::string& text,
                                    call_scope scope) {
    auto there = co_await client_.call(write_text(path, text), scope);
    if (!there)
      co_return there.error();
    co_return result<void>{};
  }
  asio::awaitable<result<process_end>>
  follow(command_report now, output_sink sink, call_scope scope);
  static std::string directory(const sandbox_handle& sandbox) {
    return std::string{directory_prefix} + sandbox.id;
  }
  static json::object variables(const sandbox_handle& sandbox,
                                const process_request& what);

  aio_client client_;
  std::unique_ptr<sandbox_files> files_;
};

asio::awaitable<sandbox_creation> aio_provider::create(sandbox_request wanted,
                                                       call_scope scope) {
  if (wanted.network.mode != network_mode::open)
    co_return sandbox_creation{
      fail(ec::invalid_request,
           "network: an AIO sandbox cannot be kept from the network; use "
           "\"public\" or another backend"),
      false};
  sandbox_handle box;
  box.id = wanted.tag;
  box.env = std::move(wanted.env);
  auto line = "mkdir -m 700 " + shell_quote(directory(box));
  auto may_exist = false;
  auto made
    = co_await client_.plain_command(std::move(line), scope, &may_exist);
  if (!made)
    co_return sandbox_creation{made.error(), may_exist};
  co_return sandbox_creation{std::move(box), false};
}

/// Its own variables, and the way to its own packages. What it says itself
/// about that comes first, as it would anywhere.
json::object aio_provider::variables(const sandbox_handle& sandbox,
                                     const process_request& what) {
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

asio::awaitable<process_outcome>
aio_provider::execute(const sandbox_handle& sandbox, process_request what,
                      output_sink sink, call_scope scope) {
  auto line = shell_line(what.argv);
  if (what.input.empty()) {
    line += " < /dev/null";
  } else {
    auto path = directory(sandbox) + "/.input";
    auto there = co_await put(path, what.input, scope);
    if (!there)
      co_return process_outcome{there.error(), false};
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
  auto begun = co_await client_.call("/v1/bash/exec", std::move(body),
                                     "start a command", scope, &acted);
  if (!begun)
    co_return process_outcome{begun.error(), acted};
  tell_begun(scope);
  auto first = parse_report(*begun);
  if (!first)
    co_return process_outcome{first.error(), true};
  if (first->session.empty() || first->command.empty())
    co_return process_outcome{
      fail(ec::unavailable, "the AIO sandbox named no command"), true};
  auto session = first->session;
  auto end = co_await follow(std::move(*first), std::move(sink), scope);
  if (!end) {
    // Whatever went wrong, nothing goes on running in a container that others
    // use; the scope may be over, so this has one of its own.
    json::object kill;
    kill["session_id"] = session;
    kill["signal"] = "SIGKILL";
    call_scope late{steady::now() + aio_client::late_patience, nullptr,
                    scope.traceparent};
    (void)co_await client_.call("/v1/bash/kill", std::move(kill), "kill", late);
  }
  client_.close_session(std::move(session), scope.traceparent);
  if (!end)
    co_return process_outcome{end.error(), true};
  co_return *end;
}

/// Long polls: each answer carries what is new since the offsets given.
asio::awaitable<result<process_end>>
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
      = static_cast<std::int64_t>(client_.options().poll_wait.count());
    auto data = co_await client_.call("/v1/bash/output", std::move(body),
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
  process_end end;
  end.exit_code = now.exit_code;
  end.signaled = now.status == "killed";
  if (end.signaled)
    end.signal = SIGKILL; // it is not told, and that is what we ask for
  co_return end;
}

asio::awaitable<process_outcome>
aio_provider::run_script(const sandbox_handle& sandbox, language lang,
                         sandbox_script script, output_sink sink,
                         call_scope scope) {
  auto python = lang == language::python;
  auto path = directory(sandbox) + (python ? "/.script.py" : "/.script.cjs");
  auto there = co_await put(path, script.text(), scope);
  if (!there)
    co_return process_outcome{there.error(), false};
  process_request what;
  what.argv = {python ? "python3" : "node", path};
  auto done
    = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return done;
}

asio::awaitable<result<void>>
aio_provider::destroy(const sandbox_handle& sandbox, call_scope scope) {
  auto gone = co_await client_.plain_command(
    "rm -rf -- " + shell_quote(directory(sandbox)), scope);
  if (!gone)
    co_return gone.error();
  co_return result<void>{};
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
aio_provider::list(call_scope scope) {
  auto names = co_await client_.plain_command("ls -1 /tmp", scope);
  if (!names)
    co_return names.error();
  std::vector<tagged_sandbox> out;
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

result<std::shared_ptr<sandbox_provider>>
make_aio(std::shared_ptr<http_client> client, aio_options options) {
  if (!options.host.empty()) {
    auto url = parse_base_url("http://" + options.host);
    if (!url)
      return url.error().within("aio.host");
  }
  return std::static_pointer_cast<sandbox_provider>(
    std::make_shared<aio_provider>(
      aio_client{std::move(client), std::move(options)}));
}

} // namespace troupe::net
