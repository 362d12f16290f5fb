#include "net/providers/e2b.hpp"

#include "net/client/address_rules.hpp"
#include "net/fail.hpp"
#include "net/providers/connect_stream.hpp"
#include "net/providers/e2b_messages.hpp"
#include "net/providers/json_lines.hpp"
#include "net/providers/status.hpp"
#include "runtime/frame/base64.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace e2b;

namespace {

constexpr std::string_view service_name = "E2B";
constexpr std::string_view key_setting = "e2b.api-key (E2B_API_KEY)";
constexpr std::uint16_t envd_port = 49983;
constexpr std::uint16_t interpreter_port = 49999;
constexpr int max_list_pages = 100;

class e2b_provider final : public provider,
                           public std::enable_shared_from_this<e2b_provider> {
public:
  e2b_provider(std::shared_ptr<http_client> client, e2b_options options,
               base_url api, std::optional<base_url> sandbox_url)
      : client_{std::move(client)}, options_{std::move(options)},
        api_{std::move(api)}, sandbox_url_{std::move(sandbox_url)} {}

  backend_kind kind() const override { return backend_kind::e2b; }
  std::string_view name() const override { return service_name; }
  std::vector<secret> secrets() const override { return {options_.api_key}; }

  result<void> ready() const override {
    if (options_.api_key.empty())
      return fail(ec::unavailable,
                  "E2B has no API key: set " + std::string{key_setting});
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
  client_request to_api(http::verb method, std::string target,
                        const call_scope& scope) const;
  result<client_request> to_sandbox(const remote_sandbox& sandbox,
                                    std::uint16_t port, http::verb method,
                                    std::string target,
                                    const call_scope& scope) const;
  asio::awaitable<result<command_end>>
  run_process(const remote_sandbox& sandbox, language lang,
              script::remote_script script, output_sink sink, call_scope scope);
  std::shared_ptr<const std::string>
  head_of(const std::shared_ptr<const std::string>& runner);
  void send_input(remote_sandbox sandbox, std::uint32_t pid, std::string text,
                  call_scope scope);

  std::shared_ptr<http_client> client_;
  e2b_options options_;
  base_url api_;
  std::optional<base_url> sandbox_url_;
  // By runner: one per language.
  std::map<std::shared_ptr<const std::string>,
           std::shared_ptr<const std::string>>
    heads_;
};

// -- requests ----------------------------------------------------------------

client_request e2b_provider::to_api(http::verb method, std::string target,
                                    const call_scope& scope) const {
  client_request r;
  r.service = api_;
  r.rule = operators_rule(api_, options_.allow_private);
  r.method = method;
  r.target = std::move(target);
  r.headers.set("X-API-Key", options_.api_key.reveal());
  r.headers.set(http::field::accept, "application/json");
  r.headers.set(http::field::content_type, "application/json");
  r.deadline = scope.deadline;
  r.abort = scope.abort;
  r.traceparent = scope.traceparent;
  return r;
}

result<client_request> e2b_provider::to_sandbox(const remote_sandbox& sandbox,
                                                std::uint16_t port,
                                                http::verb method,
                                                std::string target,
                                                const call_scope& scope) const {
  client_request r;
  if (sandbox_url_) {
    r.service = *sandbox_url_;
    r.rule = operators_rule(r.service, options_.allow_private);
  } else {
    auto domain = options_.domain;
    if (auto own = sandbox.keys.find(std::string{domain_key});
        own != sandbox.keys.end())
      domain = own->second.reveal();
    auto host = e2b_preview_host(domain, sandbox.id, port);
    auto url = parse_base_url("https://" + host);
    if (!url)
      return url.error();
    r.service = std::move(*url);
    // The domain may have come in a reply.
    r.rule = replied_rule(r.service, api_, options_.allow_private);
  }
  r.method = method;
  r.target = std::move(target);
  r.headers.set("E2b-Sandbox-Id", sandbox.id);
  r.headers.set("E2b-Sandbox-Port", std::to_string(port));
  auto add = [&](std::string_view key, const char* header) {
    if (auto i = sandbox.keys.find(std::string{key}); i != sandbox.keys.end())
      r.headers.set(header, i->second.reveal());
  };
  add(token_key, "X-Access-Token");
  if (port != envd_port)
    add(traffic_key, "E2B-Traffic-Access-Token");
  r.headers.set(http::field::accept, "application/json");
  r.deadline = scope.deadline;
  r.abort = scope.abort;
  r.traceparent = scope.traceparent;
  return r;
}

// -- control plane -----------------------------------------------------------

asio::awaitable<provider::creation> e2b_provider::create(sandbox_wish wish,
                                                         call_scope scope) {
  auto body = creation_body(wish, options_);
  if (!body)
    co_return creation{body.error(), false};
  auto target = options_.legacy_create ? "/sandboxes" : "/v2/sandboxes";
  auto request = to_api(http::verb::post, target, scope);
  request.body = std::move(*body);
  auto done = co_await client_->send(std::move(request));
  if (!done.answer)
    co_return creation{done.answer.error(), done.may_have_acted};
  if (!done.answer->ok())
    co_return creation{
      refused(service_name, "create a sandbox", *done.answer, key_setting),
      done.answer->status >= 500 && !is_refusal_status(done.answer->status)};
  auto sandbox = parse_creation(done.answer->body);
  auto odd = !sandbox;
  co_return creation{std::move(sandbox), odd};
}

asio::awaitable<result<remote_sandbox>>
e2b_provider::rejoin(remote_sandbox sandbox, std::chrono::seconds lifetime,
                     call_scope scope) {
  auto target = std::string{options_.legacy_create ? "" : "/v2"} + "/sandboxes/"
    + percent_encode(sandbox.id) + "/connect";
  auto request = to_api(http::verb::post, std::move(target), scope);
  json::object body;
  body["timeout"] = static_cast<std::int64_t>(lifetime.count());
  request.body = json::to_text(body);
  request.idempotent = true;
  auto done = co_await client_->send(std::move(request));
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(service_name, "take up a sandbox", *done.answer,
                      key_setting);
  auto found = parse_creation(done.answer->body);
  if (!found)
    co_return found.error();
  if (found->id != sandbox.id)
    co_return fail(ec::unavailable, "E2B answered for another sandbox");
  for (auto& [name, value] : found->keys)
    sandbox.keys.insert_or_assign(name, std::move(value));
  co_return std::move(sandbox);
}

asio::awaitable<result<void>>
e2b_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
  auto request = to_api(http::verb::delete_,
                        "/sandboxes/" + percent_encode(sandbox.id), scope);
  request.idempotent = true;
  auto done = co_await client_->send(std::move(request));
  if (!done.answer)
    co_return done.answer.error();
  auto status = done.answer->status;
  // Nothing else means gone: a login page comes with 200.
  if (status != 204 && status != 404)
    co_return refused(service_name, "end a sandbox", *done.answer, key_setting);
  co_return result<void>{};
}

asio::awaitable<result<std::vector<provider::tagged>>>
e2b_provider::list(call_scope scope) {
  std::vector<tagged> all;
  std::string next;
  std::map<std::string, std::string> ours{{std::string{owner_label}, "1"}};
  for (int page = 0; page < max_list_pages; ++page) {
    auto target = "/v2/sandboxes?metadata=" + e2b_metadata_filter(ours)
      + "&state=running%2Cpaused&limit=100";
    if (!next.empty())
      target += "&nextToken=" + percent_encode(next);
    auto request = to_api(http::verb::get, std::move(target), scope);
    request.idempotent = true;
    auto done = co_await client_->send(std::move(request));
    if (!done.answer)
      co_return done.answer.error();
    if (!done.answer->ok())
      co_return refused(service_name, "list sandboxes", *done.answer,
                        key_setting);
    auto items = parse_list(done.answer->body);
    if (!items)
      co_return items.error();
    all.insert(all.end(), items->begin(), items->end());
    auto more = done.answer->headers.find("X-Next-Token");
    next = more == done.answer->headers.end() ? std::string{}
                                              : std::string{more->value()};
    if (next.empty())
      break;
  }
  co_return all;
}

// -- inside ------------------------------------------------------------------

/// Beside the stream that waits for the process: its own connection.
void e2b_provider::send_input(remote_sandbox sandbox, std::uint32_t pid,
                              std::string text, call_scope scope) {
  auto work = [](std::shared_ptr<e2b_provider> self, remote_sandbox box,
                 std::uint32_t process, std::string input,
                 call_scope bounds) -> asio::awaitable<void> {
    json::object selector;
    selector["pid"] = process;
    json::object body;
    body["process"] = selector;
    auto closing = json::to_text(body);
    json::object bytes;
    bytes["stdin"] = frame::to_base64(input);
    body["input"] = std::move(bytes);
    auto sending = json::to_text(body);
    std::pair<const char*, std::string> calls[]{
      {"/process.Process/SendInput", std::move(sending)},
      {"/process.Process/CloseStdin", std::move(closing)}};
    for (auto& [path, message] : calls) {
      auto request
        = self->to_sandbox(box, envd_port, http::verb::post, path, bounds);
      if (!request)
        co_return;
      request->abort = nullptr; // that one belongs to the stream
      request->headers.set("Connect-Protocol-Version", "1");
      request->headers.set(http::field::content_type, "application/json");
      request->body = std::move(message);
      co_await self->client_->send(std::move(*request));
    }
  };
  asio::co_spawn(
    client_->executor(),
    work(shared_from_this(), std::move(sandbox), pid, std::move(text), scope),
    asio::detached);
}

asio::awaitable<result<command_end>>
e2b_provider::execute(const remote_sandbox& sandbox, command_request what,
                      output_sink sink, call_scope scope) {
  auto request = to_sandbox(sandbox, envd_port, http::verb::post,
                            "/process.Process/Start", scope);
  if (!request)
    co_return request.error();
  request->headers.set("Connect-Protocol-Version", "1");
  request->headers.set("Keepalive-Ping-Interval", "50");
  request->headers.set(http::field::content_type, "application/connect+json");
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
    scope.deadline - std::chrono::steady_clock::now());
  if (left.count() > 0)
    request->headers.set("Connect-Timeout-Ms", std::to_string(left.count()));
  for (const auto& [name, value] : sandbox.env)
    what.env.try_emplace(name, value.reveal());
  request->body = connect_envelope(start_body(what));

  std::optional<command_end> end;
  connect_reader events{[&](std::string_view json) -> result<void> {
    auto event = parse_process_event(json);
    if (!event)
      return event.error();
    if (event->what == process_event::kind::out)
      sink(output_stream::out, event->bytes);
    else if (event->what == process_event::kind::err)
      sink(output_stream::err, event->bytes);
    else if (event->what == process_event::kind::ended)
      end = event->end;
    else if (event->what == process_event::kind::started && !what.input.empty())
      send_input(sandbox, event->pid, what.input, scope);
    return {};
  }};
  result<void> fed;
  stream_reader reader;
  reader.head = [](const client_response& r) { return r.status == 200; };
  reader.data = [&](std::string_view bytes) {
    fed = events.feed(bytes);
    return fed.has_value();
  };
  auto done = co_await client_->stream(std::move(*request), std::move(reader));
  if (!fed)
    co_return fed.error();
  if (!done.answer)
    co_return done.answer.error();
  if (done.answer->status != 200)
    co_return refused(service_name, "start a process", *done.answer,
                      key_setting);
  if (auto whole = events.finish(); !whole)
    co_return whole.error();
  if (!end)
    co_return fail(ec::unavailable, "the process never ended");
  co_return *end;
}

/// The code interpreter keeps one kernel for all: modules, variables and
/// whatever a run did to them. A process of its own ends with its run.
asio::awaitable<result<command_end>>
e2b_provider::run_process(const remote_sandbox& sandbox, language lang,
                          script::remote_script script, output_sink sink,
                          call_scope scope) {
  command_request what;
  what.argv = {lang == language::python ? "python3" : "node", "-"};
  what.input = script.text();
  auto end = co_await execute(sandbox, std::move(what), std::move(sink),
                              std::move(scope));
  co_return end;
}

std::shared_ptr<const std::string>
e2b_provider::head_of(const std::shared_ptr<const std::string>& runner) {
  auto& head = heads_[runner];
  if (!head)
    head = std::make_shared<const std::string>(execute_head(*runner));
  return head;
}

asio::awaitable<result<command_end>>
e2b_provider::run_script(const remote_sandbox& sandbox, language lang,
                         script::remote_script script, output_sink sink,
                         call_scope scope) {
  if (sandbox.shared) {
    auto end = co_await run_process(sandbox, lang, std::move(script),
                                    std::move(sink), std::move(scope));
    co_return end;
  }
  auto request = to_sandbox(sandbox, interpreter_port, http::verb::post,
                            "/execute", scope);
  if (!request)
    co_return request.error();
  request->headers.set(http::field::content_type, "application/json");
  request->body_head = head_of(script.runner);
  request->body = execute_rest(lang, script.rest.reveal());

  command_end end;
  auto ended = false;
  line_reader lines{[&](std::string_view line) -> result<void> {
    auto event = parse_cell_event(line);
    if (!event)
      return event.error();
    if (event->what == cell_event::kind::out)
      sink(output_stream::out, event->text);
    else if (event->what == cell_event::kind::err)
      sink(output_stream::err, event->text);
    else if (event->what == cell_event::kind::failed) {
      end.exit_code = 1;
      end.detail = event->text;
    } else if (event->what == cell_event::kind::ended)
      ended = true;
    return {};
  }};
  result<void> fed;
  stream_reader reader;
  reader.head = [](const client_response& r) { return r.status == 200; };
  reader.data = [&](std::string_view bytes) {
    fed = lines.feed(bytes);
    return fed.has_value();
  };
  auto done = co_await client_->stream(std::move(*request), std::move(reader));
  if (!fed)
    co_return fed.error();
  if (!done.answer)
    co_return done.answer.error();
  if (done.answer->status != 200)
    co_return refused(service_name, "run the code", *done.answer, key_setting);
  if (auto last = lines.finish(); !last)
    co_return last.error();
  if (!ended)
    co_return fail(ec::unavailable,
                   "the sandbox went away before the code had ended");
  co_return end;
}

} // namespace

result<std::shared_ptr<provider>> make_e2b(std::shared_ptr<http_client> client,
                                           e2b_options options) {
  auto api
    = parse_base_url(options.api_url.empty() ? "https://api." + options.domain
                                             : options.api_url);
  if (!api)
    return api.error().within("e2b.api-url");
  std::optional<base_url> sandbox_url;
  if (!options.sandbox_url.empty()) {
    auto url = parse_base_url(options.sandbox_url);
    if (!url)
      return url.error().within("e2b.sandbox-url");
    sandbox_url = std::move(*url);
  }
  return std::static_pointer_cast<provider>(
    std::make_shared<e2b_provider>(std::move(client), std::move(options),
                                   std::move(*api), std::move(sandbox_url)));
}

} // namespace troupe::net
