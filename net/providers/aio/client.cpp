#include "net/providers/aio/client.hpp"

#include "net/client/address_rules.hpp"
#include "net/providers/aio/messages.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace aio;
using steady = std::chrono::steady_clock;

namespace {

/// What a container with JWT_PUBLIC_KEY asks for: header, claims, signature.
bool is_jwt(std::string_view key) {
  return key.starts_with("eyJ") && std::ranges::count(key, '.') == 2;
}

} // namespace

aio_client::aio_client(std::shared_ptr<http_client> http, aio_options options)
    : http_{std::move(http)}, options_{std::move(options)},
      service_{options_.tls, options_.host, options_.port, ""} {}

asio::awaitable<result<client_response>>
aio_client::send(operation what, call_scope scope, bool* acted) const {
  client_request r;
  r.service = service_;
  r.rule = operators_rule(service_, options_.allow_private);
  r.method = what.method;
  r.target = std::move(what.target);
  if (!what.body.empty())
    r.headers.set(http::field::content_type,
                  what.type.empty() ? "application/json" : what.type);
  r.headers.set(http::field::accept, "application/json");
  if (is_jwt(options_.api_key.reveal()))
    r.headers.set(http::field::authorization,
                  "Bearer " + options_.api_key.reveal());
  else if (!options_.api_key.empty())
    r.headers.set("X-AIO-API-Key", options_.api_key.reveal());
  r.body = std::move(what.body);
  r.idempotent = what.may_repeat();
  r.deadline = scope.deadline;
  r.abort = scope.cancel;
  r.traceparent = scope.traceparent;
  r.max_body_bytes = max_reply_bytes;
  auto done = co_await http_->send(std::move(r));
  if (acted)
    *acted = may_have_acted(done);
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(service_name, what.doing, *done.answer, key_setting);
  co_return std::move(*done.answer);
}

asio::awaitable<result<json::object>>
aio_client::call(operation what, call_scope scope, bool* acted) const {
  auto doing = what.doing;
  auto reply = co_await send(std::move(what), std::move(scope), acted);
  if (!reply)
    co_return reply.error();
  co_return unwrap(reply->body, doing);
}

asio::awaitable<result<json::object>>
aio_client::call(std::string target, json::object body, std::string_view doing,
                 call_scope scope, bool* acted) const {
  operation what{doing, operation::verb::post, std::move(target),
                 json::to_text(body)};
  return call(std::move(what), std::move(scope), acted);
}

asio::awaitable<result<std::string>>
aio_client::plain_command(std::string line, call_scope scope,
                          bool* acted) const {
  json::object body;
  body["command"] = std::move(line);
  body["timeout"] = 30;
  body["hard_timeout"] = 30;
  body["max_output_length"] = 0; // else it leaves the middle of a list out
  auto data = co_await call("/v1/bash/exec", std::move(body), "run a command",
                            scope, acted);
  if (!data)
    co_return data.error();
  auto report = parse_report(*data);
  if (!report)
    co_return report.error();
  close_session(report->session, scope.traceparent);
  if (report->status != "completed" || report->exit_code != 0)
    co_return fail(ec::unavailable,
                   "a command of ours failed in the AIO sandbox");
  co_return std::move(report->out);
}

/// Each command opens one, and the container is there for years. Nobody waits
/// for it: the command's end is known by now.
void aio_client::close_session(std::string session,
                               std::string traceparent) const {
  if (session.empty())
    return;
  auto work = [](aio_client self, std::string path,
                 std::string trace) -> asio::awaitable<void> {
    call_scope soon{steady::now() + late_patience, nullptr, std::move(trace)};
    operation what{"close a session", operation::verb::post, std::move(path)};
    (void)co_await self.call(std::move(what), std::move(soon));
  };
  auto path
    = "/v1/bash/sessions/" + percent_encode(std::move(session)) + "/close";
  asio::co_spawn(http_->executor(),
                 work(*this, std::move(path), std::move(traceparent)),
                 asio::detached);
}

} // namespace troupe::net
