#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace troupe::net {

/// What a client did so far. Counted on its executor, read from anywhere.
struct client_counters {
  using counter = std::atomic<std::uint64_t>;
  counter requests{0};
  counter retries{0};
  counter connections_opened{0};
  counter connections_reused{0};
  counter failures{0};
  counter connections_idle{0}; // now; the others: ever
  counter hosts{0};            // with connections, now
};

/// The same for operators, in Prometheus' text format.
std::string client_metrics(const client_counters& counters);

} // namespace troupe::net
