#include "net/providers/e2b/client.hpp"

#include "net/client/address_rules.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/base64.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace e2b;

namespace {

/// An older envd is told who acts, in the calls that act as somebody; the user
/// of a file is in its query.
bool acts_as_user(std::string_view target) {
  return target.starts_with("/filesystem.Filesystem/")
    || target == "/process.Process/Start";
}

} // namespace

e2b_client::e2b_client(std::shared_ptr<http_client> client, e2b_options options,
                       base_url api, std::optional<base_url> sandbox_url)
    : http_{std::move(client)}, options_{std::move(options)},
      api_{std::move(api)}, sandbox_url_{std::move(sandbox_url)} {}

client_request e2b_client::to_api(verb method, std::string target,
                                  const call_scope& scope) const {
  client_request r;
  r.service = api_;
  r.rule = operators_rule(api_, options_.allow_private);
  r.method = method;
  r.target = std::move(target);
  r.headers.set("X-API-Key", options_.api_key.reveal());
  r.headers.set(http::field::accept, "application/json");
  if (method == verb::post)
    r.headers.set(http::field::content_type, "application/json");
  r.deadline = scope.deadline;
  r.abort = scope.cancel;
  r.traceparent = scope.traceparent;
  return r;
}

result<base_url> e2b_client::place_of(const sandbox_handle& sandbox,
                                      std::uint16_t port) const {
  if (sandbox_url_)
    return *sandbox_url_;
  auto domain = options_.domain;
  if (auto own = sandbox.keys.find(std::string{domain_key});
      own != sandbox.keys.end())
    domain = own->second.reveal();
  auto host = port == envd_port && has_shared_host(domain)
    ? "sandbox." + domain
    : e2b_preview_host(domain, sandbox.id, port);
  return parse_base_url("https://" + host);
}

result<client_request> e2b_client::to_sandbox(const sandbox_handle& sandbox,
                                              std::uint16_t port, verb method,
                                              std::string target,
                                              const call_scope& scope) const {
  auto place = place_of(sandbox, port);
  if (!place)
    return place.error();
  client_request r;
  r.service = std::move(*place);
  // Its domain may have come in a reply.
  r.rule = sandbox_url_ ? operators_rule(r.service, options_.allow_private)
                        : replied_rule(r.service, api_, options_.allow_private);
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
  else if (envd_of(sandbox) < names_its_user && acts_as_user(r.target))
    r.headers.set(http::field::authorization,
                  "Basic " + frame::to_base64(std::string{user} + ":"));
  r.headers.set(http::field::accept, "application/json");
  r.deadline = scope.deadline;
  r.abort = scope.cancel;
  r.traceparent = scope.traceparent;
  return r;
}

result<client_request> e2b_client::request_for(const sandbox_handle& sandbox,
                                               e2b::call what,
                                               const call_scope& scope) const {
  auto again = what.may_repeat();
  auto rpc = what.target.starts_with("/filesystem.Filesystem/")
    || what.target.starts_with("/process.Process/");
  auto r = what.to == plane::api
    ? result<client_request>{to_api(what.method, std::move(what.target), scope)}
    : to_sandbox(sandbox, what.to == plane::envd ? envd_port : interpreter_port,
                 what.method, std::move(what.target), scope);
  if (!r)
    return r;
  if (rpc)
    r->headers.set("Connect-Protocol-Version", "1");
  if (rpc || what.to == plane::interpreter)
    r->headers.set(http::field::content_type, "application/json");
  if (!what.type.empty())
    r->headers.set(http::field::content_type, what.type);
  if (what.to == plane::interpreter)
    r->headers.erase("X-Access-Token"); // its contexts are asked for without
  r->body = std::move(what.body);
  r->idempotent = again;
  return r;
}

asio::awaitable<client_exchange> e2b_client::ask(sandbox_handle sandbox,
                                                 e2b::call what,
                                                 call_scope scope) const {
  auto request = request_for(sandbox, std::move(what), scope);
  if (!request)
    co_return client_exchange{request.error()};
  auto done = co_await http_->send(std::move(*request));
  co_return done;
}

asio::awaitable<result<client_response>>
e2b_client::perform(sandbox_handle sandbox, e2b::call what,
                    call_scope scope) const {
  auto doing = what.doing;
  auto done
    = co_await ask(std::move(sandbox), std::move(what), std::move(scope));
  if (!done.answer)
    co_return done.answer.error().within(std::string{doing});
  if (done.answer->ok())
    co_return std::move(*done.answer);
  auto why = refused(service, doing, *done.answer, key_setting);
  if (says_sandbox_is_gone(*done.answer))
    why.text += "; its sandbox no longer exists";
  co_return why;
}

} // namespace troupe::net
