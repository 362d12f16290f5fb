#include "net/providers/modal/provider.hpp"

#include "net/client/address_rules.hpp"
#include "net/client/client_tls.hpp"
#include "net/providers/modal/exec.hpp"
#include "net/providers/modal/sandboxes.hpp"
#include "runtime/base/error.hpp"

namespace troupe::net {

namespace asio = boost::asio;

namespace {

constexpr std::string_view service_name = "Modal";

class modal_provider final : public sandbox_provider {
public:
  modal_provider(std::shared_ptr<http_client> http, modal_options options,
                 std::shared_ptr<asio::ssl::context> tls, base_url server)
      : http_{std::move(http)}, options_{std::move(options)}, server_{std::move(
                                                                server)},
        tls_{std::move(tls)}, names_{std::make_shared<resolver>()} {
    auto rule = operators_rule(server_, options_.allow_private);
    channels_.counters = http_->shared_counters();
    auto channel = std::make_shared<grpc_channel>(
      http_->executor(), server_, tls_, names_, std::move(rule), channels_);
    auto client = std::make_shared<modal_client>(http_->executor(), channel,
                                                 options_, server_.host);
    sandboxes_ = std::make_shared<modal_sandboxes>(http_->executor(),
                                                   std::move(client), options_);
  }

  backend_kind kind() const override { return backend_kind::modal; }
  std::string_view name() const override { return service_name; }
  std::vector<secret> secrets() const override {
    return {options_.token_id, options_.token_secret};
  }
  sandbox_capabilities capabilities() const override {
    return {.reuse = true, .installs_packages = true};
  }
  result<void> ready() const override {
    if (options_.token_id.empty() || options_.token_secret.empty())
      return fail(ec::unavailable,
                  "Modal has no API token: set modal.token-id and "
                  "modal.token-secret (MODAL_TOKEN_ID, MODAL_TOKEN_SECRET)");
    return {};
  }

  asio::awaitable<sandbox_creation> create(sandbox_request wanted,
                                           call_scope scope) override {
    return sandboxes_->create(std::move(wanted), std::move(scope));
  }
  asio::awaitable<result<sandbox_handle>> reconnect(sandbox_handle sandbox,
                                                    std::chrono::seconds,
                                                    call_scope scope) override {
    return sandboxes_->reconnect(std::move(sandbox), std::move(scope));
  }
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
                                        call_scope scope) override {
    return sandboxes_->destroy(sandbox.id, std::move(scope));
  }
  asio::awaitable<result<std::vector<tagged_sandbox>>>
  list(call_scope scope) override {
    return sandboxes_->list(std::move(scope));
  }

private:
  result<std::shared_ptr<grpc_channel>>
  router_of(const sandbox_handle& sandbox) const;

  std::shared_ptr<http_client> http_;
  modal_options options_;
  base_url server_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::shared_ptr<resolver> names_;
  channel_options channels_;
  std::shared_ptr<modal_sandboxes> sandboxes_;
};

result<std::shared_ptr<grpc_channel>>
modal_provider::router_of(const sandbox_handle& sandbox) const {
  auto text = sandbox.keys.find(std::string{modal_sandboxes::url_key});
  auto url = parse_replied_url(
    text == sandbox.keys.end() ? std::string{} : text->second.reveal(),
    server_);
  if (!url)
    return url.error().within("Modal's command router");
  auto rule = replied_rule(*url, server_, options_.allow_private);
  return std::make_shared<grpc_channel>(http_->executor(), std::move(*url),
                                        tls_, names_, std::move(rule),
                                        channels_);
}

/// By a value of its own: whoever asks may be there longer than the caller.
asio::awaitable<result<std::string>>
renewed_jwt(std::shared_ptr<modal_sandboxes> sandboxes, sandbox_handle sandbox,
            call_scope scope) {
  auto entered = co_await sandboxes->enter(std::move(sandbox), scope);
  if (!entered)
    co_return entered.error();
  co_return entered->keys.at(std::string{modal_sandboxes::jwt_key}).reveal();
}

asio::awaitable<process_outcome>
modal_provider::execute(const sandbox_handle& sandbox, process_request what,
                        output_sink sink, call_scope scope) {
  auto channel = router_of(sandbox);
  if (!channel)
    co_return process_outcome{channel.error(), false};
  modal_router at;
  at.channel = std::move(*channel);
  at.task = sandbox.keys.at(std::string{modal_sandboxes::task_key}).reveal();
  at.jwt = sandbox.keys.at(std::string{modal_sandboxes::jwt_key}).reveal();
  at.renew = [all = sandboxes_, box = sandbox](call_scope bounds) {
    return renewed_jwt(all, box, std::move(bounds));
  };
  for (const auto& [name, value] : sandbox.env)
    what.env.try_emplace(name, value.reveal());
  auto done = co_await execute_at_modal(
    http_->executor(), std::move(at), std::move(what), std::move(sink), scope);
  co_return done;
}

asio::awaitable<process_outcome>
modal_provider::run_script(const sandbox_handle& sandbox, language lang,
                           sandbox_script script, output_sink sink,
                           call_scope scope) {
  process_request what;
  what.argv = lang == language::python
    ? std::vector<std::string>{"python3", "-"}
    : std::vector<std::string>{"node", "-"};
  what.input = script.text();
  auto done
    = co_await execute(sandbox, std::move(what), std::move(sink), scope);
  co_return done;
}

} // namespace

result<std::shared_ptr<sandbox_provider>>
make_modal(std::shared_ptr<http_client> client, modal_options options) {
  auto server = parse_base_url(options.server_url);
  if (!server)
    return server.error().within("modal.server-url");
  auto tls = make_client_tls(options.ca_file);
  if (!tls)
    return tls.error();
  return std::static_pointer_cast<sandbox_provider>(
    std::make_shared<modal_provider>(std::move(client), std::move(options),
                                     *tls, std::move(*server)));
}

} // namespace troupe::net
