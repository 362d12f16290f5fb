#pragma once

#include "bench/bench.hpp"
#include "bench/local/naive.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe::bench {

/// What one side did, round by round.
struct record {
  std::vector<double> rate, cpu, p50, p99;
  std::size_t failures = 0;

  void add(const batch& b);
};

using records = std::map<std::string, record>;
using sides = std::vector<std::pair<std::string, std::function<batch()>>>;

/// Every side once per round, in turning order, so that a slow moment of the
/// machine hits all of them; one unmeasured round warms caches.
records measure(const sides& all, std::size_t rounds = 5);

/// Calls per second, median and 99th percentile of a call, CPU per call.
void print_side(report& out, const std::string& name, const record& r);

} // namespace troupe::bench
