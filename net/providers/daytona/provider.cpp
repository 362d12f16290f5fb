#include "net/providers/daytona/provider.hpp"

#include "net/http/fail.hpp"
#include "net/providers/daytona/client.hpp"
#include "net/providers/daytona/exec.hpp"
#include "net/providers/daytona/files.hpp"
#include "net/providers/daytona/messages.hpp"
#include "net/providers/daytona/self_test.hpp"
#include "net/providers/provider_errors.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace daytona;

namespace {

constexpr int max_list_pages = 100;

class daytona_provider final : public provider {
public:
  daytona_provider(std::shared_ptr<http_client> client, daytona_options options,
                   base_url api)
      : options_{std::move(options)}, client_{std::move(client), options_,
                                              std::move(api)},
        inside_{client_}, files_{make_daytona_files(client_)} {}

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

  bool supports_reuse() const override { return true; }
  bool can_extend_timeout() const override { return true; }

  asio::awaitable<creation> create(sandbox_request wish,
                                   call_scope scope) override;
  asio::awaitable<result<remote_sandbox>> rejoin(remote_sandbox sandbox,
                                                 std::chrono::seconds lifetime,
                                                 call_scope scope) override;
  asio::awaitable<execution> execute(const remote_sandbox& sandbox,
                                     command_request what, output_sink sink,
                                     call_scope scope) override {
    return inside_.execute(sandbox, std::move(what), std::move(sink),
                           std::move(scope));
  }
  asio::awaitable<execution> run_script(const remote_sandbox& sandbox,
                                        language lang,
                                        script::remote_script script,
                                        output_sink sink,
                                        call_scope scope) override {
    return inside_.run_script(sandbox, lang, std::move(script), std::move(sink),
                              std::move(scope));
  }
  asio::awaitable<result<void>> destroy(const remote_sandbox& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged>>> list(call_scope scope) override;

  remote_files* files() override { return files_.get(); }
  std::vector<rehearsal> rehearsals() override {
    return daytona_rehearsals(*this, client_);
  }

private:
  asio::awaitable<result<sandbox_state>> find(std::string name,
                                              call_scope scope);
  asio::awaitable<result<remote_sandbox>>
  wait_until_started(sandbox_state first, call_scope scope);

  daytona_options options_;
  daytona_client client_;
  daytona_inside inside_;
  std::unique_ptr<remote_files> files_;
};

// -- sandboxes ---------------------------------------------------------------

asio::awaitable<provider::creation>
daytona_provider::create(sandbox_request wish, call_scope scope) {
  auto body = creation_body(wish, options_);
  if (!body)
    co_return creation{body.error(), false};
  auto r = client_.to_api(http::verb::post, "/sandbox", scope);
  r.headers.set(http::field::content_type, "application/json");
  r.body = std::move(*body);
  auto done = co_await client_.send(std::move(r));
  auto status = done.answer ? done.answer->status : 0;
  result<sandbox_state> first = fail(ec::unavailable, "not created");
  if (done.answer && done.answer->ok()) {
    first = parse_sandbox(done.answer->body);
    if (!first)
      co_return creation{first.error(), true};
  } else {
    auto may_exist = may_have_acted(done) || status == 409;
    if (may_exist) // it may be there, only its answer was lost
      first = co_await find(sandbox_name(wish.tag), scope);
    if (!first && !done.answer)
      co_return creation{done.answer.error(), may_exist};
    if (!first)
      co_return creation{refused(daytona_client::service, "create a sandbox",
                                 *done.answer, daytona_client::key_setting),
                         may_exist};
  }
  auto id = first->sandbox.id;
  auto started = co_await wait_until_started(std::move(*first), scope);
  if (started)
    co_return creation{std::move(started), false};
  co_return creation{started.error(), true, std::move(id)};
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

asio::awaitable<result<remote_sandbox>>
daytona_provider::wait_until_started(sandbox_state now, call_scope scope) {
  daytona_client::looks looks;
  while (!now.ready()) {
    if (now.failed())
      co_return fail(ec::unavailable,
                     "Daytona's sandbox ended as " + now.state
                       + (now.reason.empty() ? "" : ": ") + now.reason);
    auto waited = co_await client_.pause(looks, scope);
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
asio::awaitable<result<remote_sandbox>>
daytona_provider::rejoin(remote_sandbox sandbox, std::chrono::seconds,
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
  auto noted = co_await client_.call(std::move(used), "extend a sandbox");
  if (!noted)
    co_return noted.error();
  co_return std::move(sandbox);
}

asio::awaitable<result<void>>
daytona_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
  daytona_client::looks looks;
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
    auto waited = co_await client_.pause(looks, scope); // it is changing state
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
