#include "net/providers/modal.hpp"

#include "net/client/address_rules.hpp"
#include "net/fail.hpp"
#include "net/providers/modal_client.hpp"
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

constexpr std::string_view service_name = "Modal";
constexpr std::string_view router = "/modal.task_command_router."
                                    "TaskCommandRouter/";
constexpr std::string_view task_key = "task_id";
constexpr std::string_view jwt_key = "jwt";
constexpr std::string_view url_key = "router_url";
constexpr std::string_view owner_tag = "troupe";
constexpr std::string_view lease_tag = "troupe_lease";
constexpr std::size_t stdin_piece_bytes = 1u << 20;
constexpr auto wait_bound = 60s; // of one TaskExecWait
constexpr int max_list_pages = 100;
constexpr int max_breaks = 4; // in a row, of one call
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

class modal_provider final
    : public provider,
      public std::enable_shared_from_this<modal_provider> {
public:
  modal_provider(std::shared_ptr<http_client> http, modal_options options,
                 std::shared_ptr<asio::ssl::context> tls, base_url server)
      : http_{std::move(http)}, options_{std::move(options)}, server_{std::move(
                                                                server)},
        tls_{std::move(tls)}, names_{std::make_shared<resolver>()} {
    auto rule = operators_rule(server_, options_.allow_private);
    auto channel = std::make_shared<grpc_channel>(
      http_->executor(), server_, tls_, names_, std::move(rule));
    client_ = std::make_shared<modal_client>(http_->executor(), channel,
                                             options_, server_.host);
  }

  backend_kind kind() const override { return backend_kind::modal; }
  std::string_view name() const override { return service_name; }
  std::vector<secret> secrets() const override {
    return {options_.token_id, options_.token_secret};
  }
  bool installs_at_creation() const override { return true; }
  result<void> ready() const override {
    if (options_.token_id.empty() || options_.token_secret.empty())
      return fail(ec::unavailable,
                  "Modal has no API token: set modal.token-id and "
                  "modal.token-secret (MODAL_TOKEN_ID, MODAL_TOKEN_SECRET)");
    return {};
  }

  asio::awaitable<creation> create(prepared_run_ptr run, std::string tag,
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
  result<std::shared_ptr<grpc_channel>>
  router_of(const remote_sandbox& sandbox) const;

  std::shared_ptr<http_client> http_;
  modal_options options_;
  base_url server_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::shared_ptr<resolver> names_;
  std::shared_ptr<modal_client> client_;
};

asio::awaitable<provider::creation>
modal_provider::create(prepared_run_ptr run, std::string tag,
                       std::chrono::seconds lifetime, call_scope scope) {
  auto app = co_await client_->app(scope);
  if (!app)
    co_return creation{app.error(), false};
  auto image = co_await client_->image(image_layers(*run, options_), scope);
  if (!image)
    co_return creation{image.error(), false};
  sandbox_request r;
  r.app = *app;
  r.image = *image;
  // Without an entrypoint that lasts, the sandbox would end at once.
  r.entrypoint = {"sleep", std::to_string(lifetime.count())};
  r.timeout_seconds = static_cast<std::uint32_t>(lifetime.count());
  r.memory_mb = static_cast<std::uint32_t>(run->limits.memory_bytes >> 20);
  r.network = run->network;
  r.env = run->env;
  r.env.try_emplace("NODE_PATH", "/opt/troupe/node_modules");
  r.tags[std::string{owner_tag}] = "1";
  r.tags[std::string{lease_tag}] = tag;
  if (const auto& config = config_of(*run); !config.id.empty())
    r.tags["config_state"] = fingerprint(config);
  auto body = sandbox_body(r);
  if (!body)
    co_return creation{body.error(), false};
  auto done
    = co_await client_->call("SandboxCreateV2", std::move(*body), scope);
  if (!done.bytes)
    co_return creation{done.bytes.error(), done.may_have_acted};
  auto made = read_sandbox(*done.bytes);
  if (!made)
    co_return creation{made.error(), true};
  remote_sandbox box;
  box.id = made->id;
  box.keys.emplace(task_key, made->task);
  box.keys.emplace(jwt_key, made->jwt);
  box.keys.emplace(url_key, made->router_url);
  co_return creation{std::move(box), false};
}

result<std::shared_ptr<grpc_channel>>
modal_provider::router_of(const remote_sandbox& sandbox) const {
  auto text = sandbox.keys.find(std::string{url_key});
  auto url = parse_base_url(text == sandbox.keys.end() ? std::string{}
                                                       : text->second.reveal());
  if (!url)
    return url.error().within("Modal's command router");
  auto rule = replied_rule(*url, server_, options_.allow_private);
  return std::make_shared<grpc_channel>(http_->executor(), std::move(*url),
                                        tls_, names_, std::move(rule));
}

asio::awaitable<result<command_end>>
modal_provider::execute(const remote_sandbox& sandbox, command_request what,
                        output_sink sink, call_scope scope) {
  auto channel = router_of(sandbox);
  if (!channel)
    co_return channel.error();
  auto e = std::make_shared<execution>(http_->executor(), *channel);
  e->scope = scope;
  e->task = sandbox.keys.at(std::string{task_key}).reveal();
  e->jwt = sandbox.keys.at(std::string{jwt_key}).reveal();
  exec_request r;
  r.task = e->task;
  r.exec = e->id;
  r.argv = what.argv;
  r.cwd = what.cwd;
  r.env = what.env;
  auto left
    = std::chrono::ceil<std::chrono::seconds>(scope.deadline - steady::now());
  r.timeout_seconds
    = static_cast<std::uint32_t>(std::max<std::int64_t>(1, left.count()));
  // Calling off closes the router's connection, which ends every part.
  if (scope.abort)
    scope.abort->arm([c = *channel] { c->close(); });
  auto message = exec_start_request(r);
  auto begun = co_await e->call("TaskExecStart", std::move(message), nullptr,
                                scope.deadline);
  result<command_end> end = fail(ec::internal, "not run");
  if (begun.status.ok()) {
    auto ex = http_->executor();
    e->open_parts = 3;
    asio::co_spawn(ex, e->read(false, sink), asio::detached);
    asio::co_spawn(ex, e->read(true, sink), asio::detached);
    asio::co_spawn(ex, e->feed(std::move(what.input)), asio::detached);
    end = co_await e->wait();
    if (!end)
      (*channel)->close();
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
  (*channel)->close();
  co_return end;
}

asio::awaitable<result<command_end>>
modal_provider::run_script(const remote_sandbox& sandbox, language lang,
                           script::remote_script script, output_sink sink,
                           call_scope scope) {
  command_request what;
  what.argv = lang == language::python
    ? std::vector<std::string>{"python3", "-"}
    : std::vector<std::string>{"node", "-"};
  what.input = script.text();
  auto end = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return end;
}

asio::awaitable<result<void>>
modal_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
  auto message = sandbox_id_request(sandbox.id);
  auto done
    = co_await client_->call("SandboxTerminateV2", std::move(message), scope);
  if (!done.bytes && done.bytes.error().code != ec::not_found)
    co_return done.bytes.error();
  co_return result<void>{};
}

asio::awaitable<result<std::vector<provider::tagged>>>
modal_provider::list(call_scope scope) {
  auto app = co_await client_->app(scope);
  if (!app)
    co_return app.error();
  string_map ours{{std::string{owner_tag}, "1"}};
  std::vector<tagged> all;
  double before = 0;
  for (int page = 0; page < max_list_pages; ++page) {
    auto message = list_request(*app, ours, before);
    auto done
      = co_await client_->call("SandboxListV2", std::move(message), scope);
    if (!done.bytes)
      co_return done.bytes.error();
    auto items = read_list(*done.bytes);
    if (!items)
      co_return items.error();
    if (items->sandboxes.empty())
      break;
    for (auto& [id, tags] : items->sandboxes)
      if (auto tag = tags.find(std::string{lease_tag}); tag != tags.end())
        all.push_back({id, tag->second});
    before = items->oldest;
  }
  co_return all;
}

} // namespace

result<std::shared_ptr<provider>>
make_modal(std::shared_ptr<http_client> client, modal_options options) {
  auto server = parse_base_url(options.server_url);
  if (!server)
    return server.error().within("modal.server-url");
  auto tls = make_client_tls(options.ca_file);
  if (!tls)
    return tls.error();
  return std::static_pointer_cast<provider>(std::make_shared<modal_provider>(
    std::move(client), std::move(options), *tls, std::move(*server)));
}

} // namespace troupe::net
