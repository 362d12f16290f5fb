#include "net/providers/daytona/provider.hpp"

#include "net/providers/daytona/client.hpp"
#include "net/providers/daytona/exec.hpp"
#include "net/providers/daytona/files.hpp"
#include "net/providers/daytona/messages.hpp"
#include "net/providers/daytona/self_test.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace daytona;

namespace {

constexpr int max_list_pages = 100;

class daytona_provider final : public sandbox_provider {
public:
  daytona_provider(std::shared_ptr<http_client> client, daytona_options options,
                   base_url api)
      : options_{std::move(options)}, client_{std::move(client), options_,
                                              std::move(api)},
        exec_{client_}, files_{make_daytona_files(client_)} {}

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

  sandbox_capabilities capabilities() const override {
    return {.reuse = true, .renew = true};
  }

  asio::awaitable<sandbox_creation> create(sandbox_request wanted,
                                           call_scope scope) override;
  asio::awaitable<result<sandbox_handle>>
  reconnect(sandbox_handle sandbox, std::chrono::seconds lifetime,
            call_scope scope) override;
  asio::awaitable<process_outcome> execute(const sandbox_handle& sandbox,
                                           process_request what,
                                           output_sink sink,
                                           call_scope scope) override {
    return exec_.execute(sandbox, std::move(what), std::move(sink),
                         std::move(scope));
  }
  asio::awaitable<process_outcome> run_script(const sandbox_handle& sandbox,
                                              language lang,
                                              sandbox_script script,
                                              output_sink sink,
                                              call_scope scope) override {
    return exec_.run_script(sandbox, lang, std::move(script), std::move(sink),
                            std::move(scope));
  }
  asio::awaitable<result<void>> destroy(const sandbox_handle& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged_sandbox>>>
  list(call_scope scope) override;

  sandbox_files* files() override { return files_.get(); }
  std::vector<sandbox_self_test> self_tests() override {
    return daytona_self_tests(*this, client_);
  }

private:
  asio::awaitable<result<sandbox_state>> find(std::string name,
                                              call_scope scope);
  asio::awaitable<result<sandbox_handle>>
  wait_until_started(sandbox_state first, call_scope scope);

  daytona_options options_;
  daytona_client client_;
  daytona_exec exec_;
  std::unique_ptr<sandbox_files> files_;
};

// -- sandboxes ---------------------------------------------------------------

asio::awaitable<sandbox_creation>
daytona_provider::create(sandbox_request wanted, call_scope scope) {
  auto body = creation_body(wanted, options_);
  if (!body)
    co_return sandbox_creation{body.error(), false};
  auto r = client_.to_api(http::verb::post, "/sandbox", scope);
  r.headers.set(http::field::content_type, "application/json");
  r.body = std::move(*body);
  auto done = co_await client_.send(std::move(r));
  auto status = done.answer ? done.answer->status : 0;
  result<sandbox_state> first = fail(ec::unavailable, "not created");
  if (done.answer && done.answer->ok()) {
    first = parse_sandbox(done.answer->body);
    if (!first)
      co_return sandbox_creation{first.error(), true};
  } else {
    auto may_exist = may_have_acted(done) || status == 409;
    if (may_exist) // it may be there, only its answer was lost
      first = co_await find(sandbox_name(wanted.tag), scope);
    if (!first && !done.answer)
      co_return sandbox_creation{done.answer.error(), may_exist};
    if (!first)
      co_return sandbox_creation{refused(daytona_client::service,
                                         "create a sandbox", *done.answer,
                                         daytona_client::key_setting),
                                 may_exist};
  }
  auto id = first->sandbox.id;
  auto started = co_await wait_until_started(std::move(*first), scope);
  if (started)
    co_return sandbox_creation{std::move(started), false};
  co_return sandbox_creation{started.error(), true, std::move(id)};
}

asio::awaitable<result<sandbox_state>>
daytona_provider::find(std::string name, call_scope scope) {
  auto r = client_.to_api(http::verb::get, "/sandbox/" + percent_encode(name),
                          scope);
  auto reply = co_await client_.call(std::move(r), "show a sandbox");
  if (!reply)
    co_return reply.error();
  co_return parse_sandbox(reply->body);
}

asio::awaitable<result<sandbox_handle>>
daytona_provider::wait_until_started(sandbox_state now, call_scope scope) {
  daytona_client::poll_interval interval;
  while (!now.ready()) {
    if (now.failed())
      co_return fail(ec::unavailable,
                     "Daytona's sandbox ended as " + now.state
                       + (now.reason.empty() ? "" : ": ") + now.reason);
    auto waited = co_await client_.pause(interval, scope);
    if (!waited)
      co_return waited.error();
    auto next = co_await find(now.sandbox.id, scope);
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
    auto reply
      = co_await client_.call(std::move(r), "get the URL of its toolbox");
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
asio::awaitable<result<sandbox_handle>>
daytona_provider::reconnect(sandbox_handle sandbox, std::chrono::seconds,
                            call_scope scope) {
  auto now = co_await find(sandbox.id, scope);
  if (!now)
    co_return now.error();
  if (now->sandbox.id != sandbox.id || !now->ready())
    co_return fail(ec::not_found, "Daytona's sandbox is " + now->state);
  // Its clock of idle time begins anew.
  auto used = client_.to_api(
    http::verb::post,
    "/sandbox/" + percent_encode(sandbox.id) + "/last-activity", scope);
  used.body = "{}";
  used.idempotent = true;
  auto noted
    = co_await client_.call(std::move(used), "extend the life of a sandbox");
  if (!noted)
    co_return noted.error();
  co_return std::move(sandbox);
}

asio::awaitable<result<void>>
daytona_provider::destroy(const sandbox_handle& sandbox, call_scope scope) {
  daytona_client::poll_interval interval;
  for (;;) {
    auto r = client_.to_api(http::verb::delete_,
                            "/sandbox/" + percent_encode(sandbox.id), scope);
    auto reply = co_await client_.call(std::move(r), "delete a sandbox");
    if (!reply && reply.error().code == ec::not_found)
      co_return result<void>{};
    if (reply)
      co_return reports_not_found(reply->body);
    if (reply.error().code != ec::conflict)
      co_return reply.error();
    auto waited
      = co_await client_.pause(interval, scope); // it is changing state
    if (!waited)
      co_return waited.error();
  }
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
daytona_provider::list(call_scope scope) {
  std::vector<tagged_sandbox> all;
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

} // namespace

result<std::shared_ptr<sandbox_provider>>
make_daytona(std::shared_ptr<http_client> client, daytona_options options) {
  auto api = parse_base_url(options.api_url);
  if (!api)
    return api.error().within("daytona.api-url");
  return std::static_pointer_cast<sandbox_provider>(
    std::make_shared<daytona_provider>(std::move(client), std::move(options),
                                       std::move(*api)));
}

} // namespace troupe::net
