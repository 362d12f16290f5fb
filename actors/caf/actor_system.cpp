#include "actors/caf/actor_system.hpp"

#include "actors/caf/scheduler_policy.hpp"
#include "actors/protocol/messages.hpp"

#include <caf/io/middleman.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <algorithm>
#include <thread>

namespace troupe {

std::uint32_t default_thread_count() {
  return std::max(1u, std::thread::hardware_concurrency() / 2);
}

system_config::system_config(std::size_t threads, bool with_network,
                             io_thread* sockets, bool stepped,
                             std::chrono::milliseconds heartbeats)
    : sockets{sockets} {
  add_message_types<caf::id_block::troupe>();
  add_error_category(
    caf::atom("troupe"),
    [](std::uint8_t code, caf::atom_value, const caf::message& why) {
      return "engine error " + std::to_string(code) + " " + caf::to_string(why);
    });
  // Our work arrives from io threads: stealing workers would sleep in steps.
  if (stepped)
    set("scheduler.policy", caf::atom("testing"));
  else
    load<caf::scheduler::coordinator<scheduler_policy>>();
  set("scheduler.max-threads", threads);
  // Letters in one go. By default one busy actor may keep a thread for hundreds
  // of milliseconds; with 32, a run's letters pass through all actors in turn
  // and its latency varies less.
  set("scheduler.max-throughput", std::size_t{32});
  if (!with_network)
    return;
  load<caf::io::middleman>();
  // Of links: the other side cuts one that is silent for several of them.
  set("middleman.heartbeat-interval", caf::timespan{heartbeats});
}

} // namespace troupe
