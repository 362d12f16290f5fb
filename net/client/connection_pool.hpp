#pragma once

#include "net/client/connection.hpp"
#include "net/client/metrics.hpp"

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace troupe::net {

struct pool_bounds {
  std::size_t per_host = 1'024; // of connections, used or not
  std::size_t idle = 1'024;     // of all hosts together
};

/// The connections of a client. The one that was used last is taken first, and
/// one is opened only when none is left: so a host has as many as were lately
/// used at once, and those beyond grow old at the end of the line. When there
/// are too many of all hosts, the oldest one goes, whosever it is.
///
/// On one thread; `counters` has to live as long.
class connection_pool {
public:
  /// TLS or not, host, port, whether addresses were checked by a rule.
  using key = std::tuple<bool, std::string, std::uint16_t, bool>;
  using clock = std::chrono::steady_clock;

  connection_pool(pool_bounds bounds, client_counters& counters)
      : bounds_{bounds}, counters_{counters} {}

  /// The one used last, if it was after `since` and is still there.
  client_connection_ptr take(const key& host, clock::time_point since);
  /// A place for one that is about to be opened. Its owner says in the end
  /// `keep` or `let_go`, as of one that was taken.
  bool reserve(const key& host);
  void keep(const key& host, client_connection_ptr link);
  void let_go(const key& host);

  /// Since when the oldest one has not been used.
  std::optional<clock::time_point> oldest() const;
  void close_unused_since(clock::time_point since);

private:
  struct idle_one {
    key host;
    client_connection_ptr link;
  };
  using line = std::list<idle_one>;
  struct host_state {
    std::size_t open = 0;
    std::list<line::iterator> idle; // as in the line: used last in front
  };

  client_connection_ptr pull(line::iterator one);
  void close_oldest();

  pool_bounds bounds_;
  client_counters& counters_;
  std::map<key, host_state> hosts_; // with connections
  line line_;                       // used last in front
};

} // namespace troupe::net
