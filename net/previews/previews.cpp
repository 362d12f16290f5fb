#include "net/previews/previews.hpp"

#include "net/http/problem.hpp"
#include "net/previews/relay.hpp"
#include "net/server/auth.hpp"
#include "runtime/engine/api_key.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

constexpr std::string_view under = "/v1/sandboxes/";
constexpr unsigned segments_of_proxy = 6; // /v1/sandboxes/ID/ports/N/proxy
constexpr std::string_view tunnel_protocol = "tcp";
constexpr std::string_view tunnel_greeting
  = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n"
    "upgrade: tcp\r\n\r\n";

/// As one writes it: no sign, no zeros in front.
std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, port);
  if (text.empty() || text.front() == '0' || code != std::errc{} || at != end)
    return std::nullopt;
  return port;
}

/// Without scheme and host, where a client names them once more.
std::string_view origin_form(const request& in) {
  auto target = in.target;
  if (const auto scheme = target.find("://");
      !target.starts_with('/') && scheme != target.npos) {
    target.remove_prefix(scheme + 3);
    const auto path = target.find('/');
    target = path == target.npos ? std::string_view{"/"} : target.substr(path);
  }
  return target;
}

/// What the server inside calls it, of a target of the path form.
std::string target_inside(const request& in) {
  auto rest = origin_form(in);
  const auto path = rest.substr(0, rest.find('?'));
  std::size_t at = 0;
  for (unsigned n = 0; n < segments_of_proxy && at < path.size(); ++n)
    at = std::min(path.find('/', at + 1), path.size());
  rest.remove_prefix(at);
  return without_token(
    (rest.starts_with('/') ? std::string{} : std::string{"/"})
    + std::string{rest});
}

std::optional<port_name> port_in_path(exchange& ex) {
  auto id = sandbox_id::parse(ex.param(0));
  const auto port = parse_port(ex.param(1));
  if (id && port)
    return port_name{std::move(*id), *port};
  ex.refuse(404, "not_found", "there is no such sandbox, or no such port");
  return std::nullopt;
}

/// What a client is told, who sees a server and not an API.
int status_outside(const sandbox_error& why) {
  switch (why.problem) {
  case sandbox_problem::sandbox_not_running:
    return 502;
  case sandbox_problem::sandbox_paused:
    return 503;
  case sandbox_problem::sandbox_ended:
    return 404;
  default:
    return status_of(why);
  }
}

void fail_outside(exchange& ex, const sandbox_error& why) {
  auto r = write_problem(status_outside(why), code_of(why), why, ex.in().id,
                         std::string{});
  if (why.retry_after.count() > 0)
    add_retry_after(r, why);
  ex.answer(std::move(r));
}

} // namespace

struct previews::visit {
  port_name port;
  caller who;
  forward_rules forward;
  answer_rules answer;
  bool tunnel = false;
};

void previews::listens(std::string scheme, std::uint16_t port) {
  scheme_ = std::move(scheme);
  listener_ = port;
}

std::string previews::url_of(const port_name& port) const {
  if (listener_ == 0)
    return {};
  return scheme_ + "://" + std::to_string(port.port) + "-" + port.sandbox.str()
    + "." + options_.domain + ":" + std::to_string(listener_) + "/";
}

std::string previews::path_of(const port_name& port) {
  return std::string{under} + port.sandbox.str() + "/ports/"
    + std::to_string(port.port) + "/proxy";
}

std::optional<port_name> previews::port_of(std::string_view host) const {
  const auto name = host_name(host);
  if (!name || !name->ends_with("." + options_.domain))
    return std::nullopt;
  const auto label = std::string_view{*name}.substr(
    0, name->size() - options_.domain.size() - 1);
  const auto dash = label.find('-');
  if (dash == label.npos)
    return std::nullopt;
  const auto port = parse_port(label.substr(0, dash));
  auto id = sandbox_id::parse(label.substr(dash + 1));
  if (!port || !id)
    return std::nullopt;
  return port_name{std::move(*id), *port};
}

// -- who may ------------------------------------------------------------------

std::optional<caller> previews::admit(const exchange_ptr& ex,
                                      const port_name& port) {
  const auto& in = ex->in();
  if (!ex->who().organization.str().empty())
    return ex->who(); // by a key of the API
  const auto now = port_tokens::clock::now();
  for (const auto token : {in.field(port_token_field), token_in_query(in.query),
                           token_in_cookies(in), std::string_view{}})
    if (auto who = tokens_.caller_of(token, port, now))
      return who;
  ex->refuse(403, "port_token_required",
             "this port takes a token: POST /v1/sandboxes/ID/ports/PORT gives "
             "a URL that has one");
  return std::nullopt;
}

std::shared_ptr<void> previews::count(const port_name& port) {
  std::lock_guard lock{mutex_};
  auto& open = connections_[port];
  if (open >= options_.connections_per_port)
    return nullptr;
  ++open;
  auto less = [self = shared_from_this(), port](void*) {
    std::lock_guard again{self->mutex_};
    if (auto i = self->connections_.find(port);
        i != self->connections_.end() && --i->second == 0)
      self->connections_.erase(i);
  };
  return {this, std::move(less)};
}

// -- what is asked for --------------------------------------------------------

void previews::connect(const exchange_ptr& ex, visit what) {
  if (!sandboxes_)
    return fail_outside(*ex,
                        {sandbox_problem::place_unavailable, ec::unavailable,
                         "this engine has no place for sandboxes"});
  auto counted = count(what.port);
  if (!counted)
    return ex->refuse(503, "too_many_connections",
                      "the port has as many connections as it may have");
  const auto port = what.port;
  const auto who = what.who;
  auto connected = [ex, what = std::move(what), counted = std::move(counted)](
                     sandbox_result<unique_fd> came) {
    if (!came)
      return fail_outside(*ex, came.error());
    if (what.tunnel)
      return ex->take_over(
        relay::tunnel(std::move(*came), std::string{tunnel_greeting}, counted));
    relay::order order;
    order.server = std::move(*came);
    order.request = forward_request(ex->in(), what.forward);
    order.body = body_shape_of(ex->in());
    order.answer = what.answer;
    order.counted = counted;
    ex->take_over(std::make_shared<relay>(std::move(order)));
  };
  sandboxes_->connect(who, port.sandbox, port.port, std::move(connected));
}

void previews::serve_path(const exchange_ptr& ex) {
  auto port = port_in_path(*ex);
  auto who = port ? admit(ex, *port) : std::nullopt;
  if (!who)
    return;
  const auto& in = ex->in();
  visit what;
  what.forward.target = target_inside(in);
  what.forward.host = "localhost:" + std::to_string(port->port);
  what.forward.prefix = path_of(*port);
  what.forward.peer = ex->peer().to_string();
  what.forward.tls = ex->is_encrypted();
  what.forward.keep_authorization = what.forward.keep_cookies = false;
  what.answer.prefix = what.forward.prefix;
  what.answer.http10 = in.http10;
  what.answer.head_only = in.verb == method::head;
  what.answer.upgrade = !wanted_upgrade(in).empty();
  what.port = std::move(*port);
  what.who = std::move(*who);
  connect(ex, std::move(what));
}

void previews::serve_tunnel(const exchange_ptr& ex) {
  auto port = port_in_path(*ex);
  auto who = port ? admit(ex, *port) : std::nullopt;
  if (!who)
    return;
  if (!equal_ignoring_case(wanted_upgrade(ex->in()), tunnel_protocol))
    return ex->refuse(426, "upgrade_required",
                      "send 'Connection: Upgrade' and 'Upgrade: tcp'; what "
                      "follows the answer are the port's bytes");
  visit what;
  what.tunnel = true;
  what.port = std::move(*port);
  what.who = std::move(*who);
  connect(ex, std::move(what));
}

void previews::serve_host(const exchange_ptr& ex) {
  const auto& in = ex->in();
  auto port = port_of(in.field("host"));
  if (!port)
    return ex->refuse(421, "misdirected_request",
                      "previews are at PORT-ID." + options_.domain);
  visit what;
  what.forward.keep_authorization = true;
  const auto key = in.field("authorization");
  std::optional<caller> who;
  if (in.count("authorization") == 1 && key.size() > 7
      && equal_ignoring_case(key.substr(0, 7), "bearer ")
      && is_key_text(trim(key.substr(7)))) {
    who = caller_of_key(core_.snapshot().get(), trim(key.substr(7)));
    what.forward.keep_authorization = false; // ours, and not for the server
  }
  if (!who)
    who = admit(ex, *port);
  if (!who)
    return;
  const bool reads = in.verb == method::get || in.verb == method::head;
  if (const auto token = token_in_query(in.query);
      reads && !token.empty() && wanted_upgrade(in).empty())
    return redirect(*ex, *port, token);
  what.forward.target = without_token(origin_form(in));
  what.forward.host = in.field("host");
  what.forward.peer = ex->peer().to_string();
  what.forward.tls = ex->is_encrypted();
  what.answer.http10 = in.http10;
  what.answer.head_only = in.verb == method::head;
  what.answer.upgrade = !wanted_upgrade(in).empty();
  what.port = std::move(*port);
  what.who = std::move(*who);
  connect(ex, std::move(what));
}

/// The token goes from the address, which is shown and sent on, to a cookie
/// that only this host gets.
void previews::redirect(exchange& ex, const port_name& port,
                        std::string_view token) {
  if (!tokens_.caller_of(token, port, port_tokens::clock::now()))
    return ex.refuse(403, "port_token_required", "this token is not valid");
  auto target = without_token(origin_form(ex.in()));
  // Two slashes would be another host.
  target.erase(0, std::min(target.find_first_not_of('/'), target.size()));
  response r;
  r.status = 302;
  r.type = {};
  r.fields.emplace_back("location", "/" + target);
  r.fields.emplace_back("set-cookie",
                        std::string{port_token_cookie} + "="
                          + std::string{token}
                          + "; Path=/; HttpOnly; SameSite=Lax"
                          + (ex.is_encrypted() ? "; Secure" : ""));
  ex.answer(std::move(r));
}

// -- routes -------------------------------------------------------------------

namespace {

/// HEAD goes where GET does.
constexpr method every_method[]
  = {method::get,   method::post, method::put,
     method::patch, method::del,  method::options};

} // namespace

void previews::add_host_routes(router& routes) {
  route_rules rules;
  rules.public_route = true;
  rules.takes_over = true;
  for (const auto verb : every_method)
    routes.add(
      verb, "/",
      [self = shared_from_this()](exchange_ptr ex) { self->serve_host(ex); },
      rules);
}

void previews::add_path_routes(router& routes) {
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(scope::run);
  rules.port_token = true;
  rules.takes_over = true;
  const std::string port{"/v1/sandboxes/{sandbox}/ports/{port}"};
  for (const auto verb : every_method)
    for (const char* rest : {"/proxy", "/proxy/{path...}"})
      routes.add(
        verb, port + rest,
        [self = shared_from_this()](exchange_ptr ex) { self->serve_path(ex); },
        rules);
  routes.add(
    method::get, port + "/tunnel",
    [self = shared_from_this()](exchange_ptr ex) { self->serve_tunnel(ex); },
    rules);
}

} // namespace troupe::net
