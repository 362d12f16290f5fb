#include "actors/cluster/link_monitor.hpp"

namespace troupe {

namespace {

constexpr std::chrono::seconds between_looks{1};

} // namespace

caf::behavior link_watch(caf::event_based_actor* self, gateway_actor gate,
                         std::shared_ptr<request_router> router,
                         std::function<void()> gone) {
  self->monitor(gate);
  self->set_down_handler([=](caf::down_msg&) {
    gone();
    self->quit();
  });
  self->delayed_send(self, between_looks, tick_v);
  return {[=](tick_atom) {
    router->expire(std::chrono::steady_clock::now());
    self->delayed_send(self, between_looks, tick_v);
  }};
}

} // namespace troupe
