#pragma once

#include "net/server/router.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::net {

/// A number with one writing thread: no locked instruction is needed.
class tally {
public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// What one io thread has seen. Labels are routes and classes of statuses:
/// bounded, whatever clients send.
struct counters {
  static constexpr std::array<double, 11> bounds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};

  explicit counters(std::size_t routes) : by_route(routes + 1) {}

  struct per_route {
    std::array<tally, 6> by_class; // index: status / 100
  };
  std::vector<per_route> by_route; // the last one: no route was found
  std::array<tally, bounds.size() + 1> took;
  tally took_microseconds;
  tally accepted;
  tally turned_away; // over a cap
  tally accept_failures;
  tally evicted; // idle ones that made room
  tally timed_out;
  tally refused; // by HTTP's own rules
  tally bytes_in;
  tally bytes_out;
  tally streams_dropped;

  void note(std::size_t route, int status, std::chrono::microseconds time);
};

/// Prometheus' text format over all io threads.
std::string render(const std::vector<const counters*>& all,
                   const router& routes);

} // namespace troupe::net
