#include "net/providers/e2b/provider.hpp"

#include "net/providers/e2b/client.hpp"
#include "net/providers/e2b/exec.hpp"
#include "net/providers/e2b/files.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/e2b/self_test.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace e2b;

namespace {

constexpr int max_list_pages = 100;

class e2b_provider final : public sandbox_provider {
public:
  explicit e2b_provider(e2b_client client)
      : client_{client}, exec_{std::make_shared<e2b_exec>(client)},
        files_{make_e2b_files(std::move(client))} {}

  backend_kind kind() const override { return backend_kind::e2b; }
  std::string_view name() const override { return e2b_client::service; }
  std::vector<secret> secrets() const override {
    return {client_.options().api_key};
  }

  result<void> ready() const override {
    if (client_.options().api_key.empty())
      return fail(ec::unavailable,
                  "E2B has no API key: set "
                    + std::string{e2b_client::key_setting});
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
    return exec_->execute(sandbox, std::move(what), std::move(sink),
                          std::move(scope));
  }
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
    return e2b_self_tests(*this, client_, exec_);
  }

private:
  /// The older one knows running ones only, and has them all on one page.
  std::string
  list_target(const std::map<std::string, std::string>& labels) const {
    auto filter = "metadata=" + e2b_metadata_filter(labels);
    return client_.options().legacy_create
      ? "/sandboxes?" + filter
      : "/v2/sandboxes?" + filter + "&state=running,paused&limit=100";
  }

  e2b_client client_;
  std::shared_ptr<e2b_exec> exec_;
  std::unique_ptr<sandbox_files> files_;
};

// -- control plane -----------------------------------------------------------

asio::awaitable<sandbox_creation> e2b_provider::create(sandbox_request wanted,
                                                       call_scope scope) {
  auto body = creation_body(wanted, client_.options());
  if (!body)
    co_return sandbox_creation{body.error(), false};
  auto target
    = client_.options().legacy_create ? "/sandboxes" : "/v2/sandboxes";
  auto request = client_.to_api(http::verb::post, target, scope);
  request.body = std::move(*body);
  auto done = co_await client_.http().send(std::move(request));
  if (!done.answer)
    co_return sandbox_creation{done.answer.error(), done.may_have_acted};
  if (!done.answer->ok())
    co_return sandbox_creation{refused(e2b_client::service, "create a sandbox",
                                       *done.answer, e2b_client::key_setting),
                               done.answer->status >= 500
                                 && !is_refusal_status(done.answer->status)};
  auto sandbox = parse_creation(done.answer->body);
  if (!sandbox || envd_of(*sandbox) >= oldest_known) {
    auto odd = !sandbox;
    if (sandbox)
      sandbox->env = std::move(wanted.env);
    co_return sandbox_creation{std::move(sandbox), odd};
  }
  auto gone = co_await destroy(*sandbox, scope);
  co_return sandbox_creation{
    fail(ec::unavailable,
         "E2B's template has an envd older than version 0.1.0: build it again"),
    !gone};
}

asio::awaitable<result<sandbox_handle>>
e2b_provider::reconnect(sandbox_handle sandbox, std::chrono::seconds lifetime,
                        call_scope scope) {
  auto target = std::string{client_.options().legacy_create ? "" : "/v2"}
    + "/sandboxes/" + percent_encode(sandbox.id) + "/connect";
  auto request = client_.to_api(http::verb::post, std::move(target), scope);
  json::object body;
  body["timeout"] = static_cast<std::int64_t>(lifetime.count());
  request.body = json::to_text(body);
  request.idempotent = true;
  auto done = co_await client_.http().send(std::move(request));
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(e2b_client::service, "reconnect to a sandbox",
                      *done.answer, e2b_client::key_setting);
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
e2b_provider::destroy(const sandbox_handle& sandbox, call_scope scope) {
  auto request = client_.to_api(
    http::verb::delete_, "/sandboxes/" + percent_encode(sandbox.id), scope);
  request.idempotent = true;
  auto done = co_await client_.http().send(std::move(request));
  if (!done.answer)
    co_return done.answer.error();
  auto status = done.answer->status;
  // Nothing else means gone: a login page comes with 200.
  if (status != 204 && status != 404)
    co_return refused(e2b_client::service, "delete a sandbox", *done.answer,
                      e2b_client::key_setting);
  co_return result<void>{};
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
e2b_provider::list(call_scope scope) {
  std::vector<tagged_sandbox> all;
  std::string next;
  std::map<std::string, std::string> ours{{std::string{owner_label}, "1"}};
  for (int page = 0; page < max_list_pages; ++page) {
    auto target = list_target(ours);
    if (!next.empty())
      target += "&nextToken=" + percent_encode(next);
    auto request = client_.to_api(http::verb::get, std::move(target), scope);
    request.idempotent = true;
    auto done = co_await client_.http().send(std::move(request));
    if (!done.answer)
      co_return done.answer.error();
    if (!done.answer->ok())
      co_return refused(e2b_client::service, "list sandboxes", *done.answer,
                        e2b_client::key_setting);
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

/// The code interpreter keeps one kernel for all: modules, variables and
/// whatever a run did to them. A process of its own ends with its run.
asio::awaitable<process_outcome>
e2b_provider::run_script(const sandbox_handle& sandbox, language lang,
                         sandbox_script script, output_sink sink,
                         call_scope scope) {
  if (!sandbox.shared)
    return exec_->run_cell(sandbox, lang, std::move(script), std::move(sink),
                           std::move(scope));
  process_request what;
  what.argv = {lang == language::python ? "python3" : "node", "-"};
  what.input = script.text();
  return exec_->execute(sandbox, std::move(what), std::move(sink),
                        std::move(scope));
}

} // namespace

result<std::shared_ptr<sandbox_provider>>
make_e2b(std::shared_ptr<http_client> client, e2b_options options) {
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
  e2b_client both{std::move(client), std::move(options), std::move(*api),
                  std::move(sandbox_url)};
  return std::static_pointer_cast<sandbox_provider>(
    std::make_shared<e2b_provider>(std::move(both)));
}

} // namespace troupe::net
