#pragma once

#include "net/server/background.hpp"
#include "net/server/metrics.hpp"
#include "net/server/options.hpp"
#include "net/server/router.hpp"
#include "net/server/stream_budget.hpp"
#include "runtime/engine/engine.hpp"

#include <boost/asio/ip/address.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

namespace boost::asio::ssl {
class context;
}

namespace troupe::net {

/// How many connections each address has.
class per_address_limit {
public:
  /// False when `limit` (0: none) is reached.
  bool enter(const boost::asio::ip::address& who, std::size_t limit);
  void leave(const boost::asio::ip::address& who);

private:
  std::mutex mutex_;
  std::map<boost::asio::ip::address, std::size_t> counts_;
};

/// What all io threads share.
struct server_state {
  server_state(engine& core, server_options options);

  engine& core;
  const server_options options;
  router routes; // complete before the first thread starts
  per_address_limit addresses;
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> in_flight{0};
  std::atomic<std::size_t> bodies{0};
  std::atomic<bool> draining{false};
  stream_budget streams{options.streams_limit};

  std::shared_ptr<boost::asio::ssl::context> tls() const;
  void tls(std::shared_ptr<boost::asio::ssl::context> fresh);

  /// One request less; wakes a drain that waits for the last.
  void finished_one();
  /// False when the time is over first.
  bool wait_until_quiet(std::chrono::milliseconds time);

private:
  mutable std::mutex mutex_;
  std::condition_variable quiet_;
  std::shared_ptr<boost::asio::ssl::context> tls_;

public:
  background readers; // of large bodies; last: they use the others
};

} // namespace troupe::net
