#include "actors/cluster/basp_adapter.hpp"

#include <caf/io/all.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/network/multiplexer.hpp>

#include <set>
#include <string>

namespace troupe {

namespace {

// The broker keeps its doors by port; ours has none.
constexpr std::uint16_t no_port = 1;

} // namespace

caf::actor basp_broker_of(caf::actor_system& system) {
  return system.middleman().named_broker<caf::io::basp_broker>(
    caf::atom("BASP"));
}

void adopt_inbound(caf::actor_system& system, const caf::actor& broker, int fd,
                   const gateway_actor& gate) {
  caf::anon_send(broker, caf::publish_atom::value,
                 system.middleman().backend().new_scribe(fd), no_port,
                 caf::actor_cast<caf::strong_actor_ptr>(gate),
                 system.message_types<gateway_actor>());
}

result<gateway_actor> adopt_outbound(caf::actor_system& system,
                                     const caf::actor& broker, int fd,
                                     std::chrono::milliseconds patience) {
  result<gateway_actor> found
    = error{ec::unavailable, "the peer offers another interface", {}, {}};
  caf::scoped_actor self{system};
  self
    ->request(broker, patience, caf::connect_atom::value,
              system.middleman().backend().new_scribe(fd), no_port)
    .receive(
      [&](caf::node_id&, caf::strong_actor_ptr& peer,
          std::set<std::string>& offered) {
        if (peer
            && system.assignable(offered,
                                 system.message_types<gateway_actor>()))
          found = caf::actor_cast<gateway_actor>(peer);
      },
      [&](caf::error& e) { found = from_caf(e); });
  return found;
}

} // namespace troupe
