#include "net/providers/webhook/webhook.hpp"

#include "net/client/address_rules.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/json/json.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

// More names than any process can use.
constexpr std::size_t max_variables = 1'000;

class webhook final : public credential_source,
                      public std::enable_shared_from_this<webhook> {
public:
  webhook(std::shared_ptr<http_client> client, webhook_options options,
          base_url service)
      : client_{std::move(client)}, options_{std::move(options)},
        service_{std::move(service)} {}

  void ask(credential_query query, std::chrono::milliseconds timeout,
           std::function<void(result<environment>)> done) override {
    auto work = [](std::shared_ptr<webhook> self, credential_query who,
                   std::chrono::milliseconds limit,
                   std::function<void(result<environment>)> told)
      -> asio::awaitable<void> {
      auto answer = co_await self->exchange_with(std::move(who), limit);
      told(std::move(answer));
    };
    asio::co_spawn(
      client_->executor(),
      work(shared_from_this(), std::move(query), timeout, std::move(done)),
      asio::detached);
  }

private:
  asio::awaitable<result<environment>>
  exchange_with(credential_query query, std::chrono::milliseconds timeout) {
    client_request r;
    r.service = service_;
    r.rule = operators_rule(service_, options_.allow_private);
    r.method = http::verb::post;
    r.target = service_.prefix.empty() ? "/" : "";
    r.headers.set(http::field::content_type, "application/json");
    r.headers.set(http::field::accept, "application/json");
    if (!options_.key.empty())
      r.headers.set(http::field::authorization,
                    "Bearer " + options_.key.reveal());
    r.body = webhook_body(query);
    r.deadline = std::chrono::steady_clock::now() + timeout;
    r.max_body_bytes = options_.max_reply_bytes;
    r.traceparent = known_or_new_trace(query.traceparent);
    r.tries = 2; // once more when it could not be reached at all
    auto done = co_await client_->send(std::move(r));
    if (!done.answer)
      co_return done.answer.error().within("credentials webhook");
    auto status = done.answer->status;
    if (status == 401 || status == 403)
      co_return fail(ec::unavailable,
                     "credentials webhook: it answered with status "
                       + std::to_string(status)
                       + "; check credentials.webhook-key "
                         "(STEP_COMPLETE_KEY)");
    if (!done.answer->ok())
      co_return fail(ec::unavailable,
                     "credentials webhook: it answered with status "
                       + std::to_string(status));
    auto variables = parse_webhook_reply(done.answer->body);
    wipe(done.answer->body.data(), done.answer->body.size());
    co_return variables;
  }

  std::shared_ptr<http_client> client_;
  webhook_options options_;
  base_url service_;
};

std::optional<std::string> as_text(const json::value& v) {
  if (v.is_string())
    return std::string{v.as_string()};
  if (v.is_bool() || v.is_number())
    return json::to_text(v);
  return {};
}

} // namespace

std::string webhook_body(const credential_query& query) {
  json::object body;
  body["user_id"] = query.user.str();
  body["organization_id"] = query.organization.str();
  if (!query.tool_name.empty())
    body["tool_name"] = query.tool_name;
  if (!query.agent_id.empty())
    body["agent_id"] = query.agent_id;
  return json::to_text(body);
}

result<environment> parse_webhook_reply(std::string_view text) {
  json::parse_limits limits;
  limits.wiped = true;
  auto body = json::parse_object(text, limits);
  if (!body)
    return fail(ec::unavailable,
                "credentials webhook: the answer is not a JSON object");
  if (body->size() > max_variables)
    return fail(ec::unavailable,
                "credentials webhook: more than "
                  + std::to_string(max_variables) + " variables");
  environment out;
  for (const auto& [name, value] : *body) {
    auto plain = as_text(value);
    std::string key{name};
    // Names that are not allowed are for the engine to refuse, aloud.
    if (plain)
      out.insert_or_assign(std::move(key), secret{std::move(*plain)});
  }
  return out;
}

result<std::shared_ptr<credential_source>>
make_webhook(std::shared_ptr<http_client> client, webhook_options options) {
  auto service = parse_base_url(options.url);
  if (!service)
    return service.error().within("credentials.webhook-url");
  return std::static_pointer_cast<credential_source>(std::make_shared<webhook>(
    std::move(client), std::move(options), std::move(*service)));
}

} // namespace troupe::net
