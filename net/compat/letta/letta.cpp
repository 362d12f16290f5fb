#include "net/compat/letta/letta.hpp"

#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/writer.hpp"

#include <memory>

namespace troupe::net::letta {

namespace {

constexpr std::string_view prefixes[]
  = {"/compat/letta/v1", "/compat/letta/latest"};

} // namespace

void doors::add(method verb, std::string_view path, engine& core, handle f,
                scope needed) {
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(needed);
  rules.ignore_foreign_credentials
    = true; // Letta's clients may carry a key for Letta
  rules.failure = &write_detail;
  rules.body_limit = options_.body_limit;
  rules.password = password_;
  auto handle
    = [&core, options = options_, f](exchange_ptr ex) { f(core, options, ex); };
  for (auto prefix : prefixes)
    routes_.add(verb, std::string{prefix}.append(path), handle, rules);
}

std::optional<json::object> body_of(exchange& ex, bool optional) {
  if (ex.in().body.empty() && optional)
    return json::object{};
  // The listener has measured it by the settings.
  static constexpr std::string_view arguments[] = {"/args"};
  auto parsed = json::parse_large(
    ex.in().body, arguments, {.bytes = ex.in().body.size(), .wiped = true});
  if (parsed && optional && parsed->is_null())
    return json::object{};
  if (parsed && parsed->is_object())
    return std::move(parsed->get_object());
  // The reason is one of a closed set: it quotes nothing of the body.
  fail(ex, 422,
       parsed ? "the body must be a JSON object"
              : "the body is " + parsed.error().fields.at(0).reason);
  return std::nullopt;
}

void add_letta(router& routes, engine& core, letta_options options) {
  route_rules open;
  open.public_route = open.health_route = true;
  open.body = body_rule::none;
  open.failure = &write_detail;
  auto health = [version = options.version](exchange_ptr ex) {
    json::object_writer out;
    out.text("version", version).text("status", "ok");
    ex->answer_json(out.finish());
  };
  for (auto prefix : prefixes) {
    routes.add(method::get, std::string{prefix} + "/health", health, open);
    routes.add(method::get, std::string{prefix} + "/ready", health, open);
    routes.style(std::string{prefix}, &write_detail);
  }
  doors to{routes, options};
  add_tools(to, core);
  add_schemas(to, core);
  add_runs(to, core);
  add_configs(to, core);
  add_variables(to, core);
  add_agents(to, core);
}

} // namespace troupe::net::letta
