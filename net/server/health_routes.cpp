#include "net/server/health_routes.hpp"

#include "net/server/exchange.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view metrics_type
  = "text/plain; version=0.0.4; charset=utf-8";

void answer_text(exchange& ex, int status, std::string body) {
  response r;
  r.status = status;
  r.type = text_type;
  r.body = std::move(body);
  ex.answer(std::move(r));
}

bool is_fine(std::string_view state) {
  return state == "up" || state == "ready";
}

/// Only names and states: reasons may name hosts and files, and this answer
/// is for everybody on the machine.
std::string verbose(const engine_health& health) {
  std::string out;
  for (const auto& [name, state] : health.components)
    out += std::string{is_fine(state) ? "[+] " : "[-] "} + name + " " + state
      + "\n";
  for (const auto& b : health.backends)
    if (b.configured) {
      const auto state = !b.ready ? "not ready"
        : b.circuit == "open"     ? "paused" // it failed, and is tried again
                                  : "ready";
      out += std::string{is_fine(state) ? "[+]" : "[-]"} + " backend "
        + std::string{to_string(b.name)} + " " + state + "\n";
    }
  return out;
}

void answer_ready(const exchange_ptr& ex, result<engine_health> health) {
  if (!health) {
    ex->fail(health.error());
    return;
  }
  auto query = ex->in().query;
  bool wanted = query.substr(0, query.find('=')) == "verbose";
  auto body = wanted && ex->sees_details() ? verbose(*health) : std::string{};
  body += health->ready ? "ready" : "not ready";
  // Runs are taken, and some other things may be refused.
  for (const auto& [name, state] : health->components)
    if (health->ready && !is_fine(state))
      body += ", but " + name + " " + state;
  body += '\n';
  answer_text(*ex, health->ready ? 200 : 503, std::move(body));
}

} // namespace

void add_operators(router& routes, engine& core,
                   std::function<std::string()> own_metrics) {
  route_rules rules;
  rules.public_route = rules.health_route = true;
  rules.body = body_rule::none;
  routes.add(
    method::get, "/livez",
    [](exchange_ptr ex) { answer_text(*ex, 200, "ok\n"); }, rules);
  routes.add(
    method::get, "/readyz",
    [&core](exchange_ptr ex) {
      core.health([ex](result<engine_health> health) {
        answer_ready(ex, std::move(health));
      });
    },
    rules);
  if (!own_metrics)
    return;
  rules.public_route = false;
  rules.public_on_loopback = true;
  routes.add(
    method::get, "/metrics",
    [&core, own = std::move(own_metrics)](exchange_ptr ex) {
      response r;
      r.type = metrics_type;
      r.body = core.metrics() + own();
      ex->answer(std::move(r));
    },
    rules);
}

} // namespace troupe::net
