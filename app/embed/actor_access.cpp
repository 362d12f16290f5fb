#include "app/embed/actor_access.hpp"

#include "actors/engine/engine_internals.hpp"
#include "app/embed/public_conversions.hpp"

namespace troupe {

api::actor_handle handle_of(engine_host& host) {
  auto routes = context_of(host)->routes.load();
  return {system_of(host), routes ? routes->gate : gateway_actor{}};
}

namespace api {

actor_handle actors_of(engine& e) {
  auto* actors = dynamic_cast<actor_access*>(&e);
  return actors ? actors->handle() : actor_handle{};
}

result<execution> execution_from(const message& m) {
  auto request = request_from(m);
  if (!request)
    return request.error();
  if (auto fits = check_fits_link(*request); !fits)
    return fits.error();
  execution what;
  what.who = caller_for(m.organization);
  what.request = std::make_shared<const run_request>(std::move(*request));
  return what;
}

reply reply_from(const run_answer& a) {
  return troupe::reply_from(result_of(a));
}

reply reply_from(const caf::error& e) {
  return failure_from(from_caf(e));
}

} // namespace api

} // namespace troupe
