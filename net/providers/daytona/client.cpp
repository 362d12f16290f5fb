#include "net/providers/daytona/client.hpp"

#include "net/client/address_rules.hpp"
#include "net/providers/daytona/messages.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace daytona;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

daytona_client::daytona_client(std::shared_ptr<http_client> client,
                               daytona_options options, base_url api)
    : http_{std::move(client)}, options_{std::move(options)}, api_{std::move(
                                                                api)} {}

client_request daytona_client::request(base_url place, verb method,
                                       std::string target,
                                       const call_scope& scope) const {
  client_request r;
  r.service = std::move(place);
  r.method = method;
  r.target = std::move(target);
  r.headers.set(http::field::authorization,
                "Bearer " + options_.api_key.reveal());
  r.headers.set(http::field::accept, "application/json");
  r.headers.set("X-Daytona-Source", "troupe");
  r.headers.set("X-Daytona-SDK-Version", sdk_version);
  if (!options_.organization.empty())
    r.headers.set("X-Daytona-Organization-ID", options_.organization);
  r.idempotent = method == verb::get || method == verb::delete_;
  r.deadline = scope.deadline;
  r.abort = scope.cancel;
  r.traceparent = scope.traceparent;
  return r;
}

client_request daytona_client::to_api(verb method, std::string target,
                                      const call_scope& scope) const {
  auto r = request(api_, method, std::move(target), scope);
  r.rule = operators_rule(api_, options_.allow_private);
  return r;
}

result<client_request>
daytona_client::to_toolbox(const sandbox_handle& sandbox, verb method,
                           std::string target, const call_scope& scope) const {
  auto place = sandbox.keys.find(std::string{toolbox_key});
  if (place == sandbox.keys.end())
    return fail(ec::unavailable, "Daytona named no toolbox");
  auto url = parse_replied_url(place->second.reveal(), api_);
  if (!url)
    return url.error().within("Daytona's toolbox");
  auto r = request(std::move(*url), method,
                   "/" + percent_encode(sandbox.id) + std::move(target), scope);
  r.rule = replied_rule(r.service, api_, options_.allow_private);
  return r;
}

asio::awaitable<client_exchange> daytona_client::send(client_request r) {
  return http_->send(std::move(r));
}

asio::awaitable<result<client_response>>
daytona_client::call(result<client_request> r, std::string_view doing,
                     bool* acted) {
  if (acted)
    *acted = false;
  if (!r)
    co_return r.error();
  if (!r->body.empty() && r->headers.count(http::field::content_type) == 0)
    r->headers.set(http::field::content_type, "application/json");
  auto done = co_await http_->send(std::move(*r));
  if (acted)
    *acted = may_have_acted(done);
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(service, doing, *done.answer, key_setting);
  co_return std::move(*done.answer);
}

asio::awaitable<result<client_response>>
daytona_client::perform(sandbox_handle sandbox, daytona::call what,
                        call_scope scope) {
  auto again = what.may_repeat();
  auto r = what.to == plane::api
    ? result<client_request>{to_api(what.method, std::move(what.target), scope)}
    : to_toolbox(sandbox, what.method, std::move(what.target), scope);
  if (r) {
    if (!what.accept.empty())
      r->headers.set(http::field::accept, what.accept);
    if (!what.type.empty())
      r->headers.set(http::field::content_type, what.type);
    r->body = std::move(what.body);
    r->idempotent = again;
  }
  auto reply = co_await call(std::move(r), what.doing);
  co_return reply;
}

asio::awaitable<result<void>> daytona_client::pause(poll_interval& so_far,
                                                    call_scope scope) const {
  auto often = steady::now() - so_far.began < options_.poll_often;
  so_far.delay = often || so_far.delay == 0ms
    ? options_.poll_first
    : std::min(so_far.delay * 2, options_.poll_max);
  auto on = co_await troupe::pause(http_->executor(), so_far.delay,
                                   scope.deadline, scope.cancel);
  if (on)
    co_return result<void>{};
  if (scope.cancel && scope.cancel->cancelled())
    co_return fail(ec::unavailable, "the run was cancelled");
  co_return fail(ec::timeout, "the deadline passed");
}

} // namespace troupe::net
