#include "net/providers/e2b/provider.hpp"

#include "net/http/fail.hpp"
#include "net/providers/e2b/client.hpp"
#include "net/providers/e2b/exec.hpp"
#include "net/providers/e2b/files.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/e2b/self_test.hpp"
#include "net/providers/provider_errors.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace e2b;

namespace {

constexpr int max_list_pages = 100;

class e2b_provider final : public provider {
public:
  explicit e2b_provider(e2b_client client)
      : client_{client}, inside_{std::make_shared<e2b_inside>(client)},
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
    return inside_->execute(sandbox, std::move(what), std::move(sink),
                            std::move(scope));
  }
  asio::awaitable<execution> run_script(const remote_sandbox& sandbox,
                                        language lang,
                                        script::remote_script script,
                                        output_sink sink,
                                        call_scope scope) override;
  asio::awaitable<result<void>> destroy(const remote_sandbox& sandbox,
                                        call_scope scope) override;
  asio::awaitable<result<std::vector<tagged>>> list(call_scope scope) override;

  remote_files* files() override { return files_.get(); }
  std::vector<rehearsal> rehearsals() override {
    return e2b_rehearsals(*this, client_, inside_);
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
  std::shared_ptr<e2b_inside> inside_;
  std::unique_ptr<remote_files> files_;
};

// -- control plane -----------------------------------------------------------

asio::awaitable<provider::creation> e2b_provider::create(sandbox_request wish,
                                                         call_scope scope) {
  auto body = creation_body(wish, client_.options());
  if (!body)
    co_return creation{body.error(), false};
  auto target
    = client_.options().legacy_create ? "/sandboxes" : "/v2/sandboxes";
  auto request = client_.to_api(http::verb::post, target, scope);
  request.body = std::move(*body);
  auto done = co_await client_.http().send(std::move(request));
  if (!done.answer)
    co_return creation{done.answer.error(), done.may_have_acted};
  if (!done.answer->ok())
    co_return creation{refused(e2b_client::service, "create a sandbox",
                               *done.answer, e2b_client::key_setting),
                       done.answer->status >= 500
                         && !is_refusal_status(done.answer->status)};
  auto sandbox = parse_creation(done.answer->body);
  if (!sandbox || envd_of(*sandbox) >= oldest_known) {
    auto odd = !sandbox;
    if (sandbox && wish.key.empty()) // else each run brings its own later
      sandbox->env = wish.run->env;
    co_return creation{std::move(sandbox), odd};
  }
  auto gone = co_await destroy(*sandbox, scope);
  co_return creation{
    fail(ec::unavailable,
         "E2B's template has an envd older than version 0.1.0: build it again"),
    !gone};
}

asio::awaitable<result<remote_sandbox>>
e2b_provider::rejoin(remote_sandbox sandbox, std::chrono::seconds lifetime,
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
e2b_provider::destroy(const remote_sandbox& sandbox, call_scope scope) {
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

asio::awaitable<result<std::vector<provider::tagged>>>
e2b_provider::list(call_scope scope) {
  std::vector<tagged> all;
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
asio::awaitable<execution>
e2b_provider::run_script(const remote_sandbox& sandbox, language lang,
                         script::remote_script script, output_sink sink,
                         call_scope scope) {
  if (!sandbox.shared)
    return inside_->run_cell(sandbox, lang, std::move(script), std::move(sink),
                             std::move(scope));
  command_request what;
  what.argv = {lang == language::python ? "python3" : "node", "-"};
  what.input = script.text();
  return inside_->execute(sandbox, std::move(what), std::move(sink),
                          std::move(scope));
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
  e2b_client both{std::move(client), std::move(options), std::move(*api),
                  std::move(sandbox_url)};
  return std::static_pointer_cast<provider>(
    std::make_shared<e2b_provider>(std::move(both)));
}

} // namespace troupe::net
