#pragma once

#include "runtime/model/run.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Durations in seconds: 1 ms, 3 ms, 10 ms, .. 1000 s, and more.
struct duration_histogram {
  std::array<std::atomic<std::uint64_t>, 14> buckets{};
  std::atomic<std::uint64_t> sum_us{0};

  void observe(std::chrono::microseconds took) {
    const auto us = static_cast<std::uint64_t>(took.count());
    std::size_t bucket = 0;
    for (std::uint64_t bound = 1'000, odd = 0;
         bucket + 1 < buckets.size() && us > bound; ++bucket, odd ^= 1)
      bound = odd ? bound / 3 * 10 : bound * 3;
    buckets[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_us.fetch_add(us, std::memory_order_relaxed);
  }
};

/// What operators count. Relaxed: a scrape may be one behind.
struct engine_metrics {
  using counter = std::atomic<std::uint64_t>;

  counter submitted{0};
  counter refused{0};  // before they were a run: because of load
  counter rejected{0}; // the same, because of what they say
  counter succeeded{0};
  counter failed_tools{0};
  counter failed_runs{0}; // the engine's failures
  counter cancelled{0};
  counter expired{0}; // deadlines
  counter failovers{0};
  counter replayed{0}; // idempotency keys
  counter restarts{0}; // of actors
  counter webhook_asked{0};
  counter webhook_failed{0};
  counter webhook_cached{0};
  counter changes{0};
  counter lines_lost{0};      // of the record: the store is too slow
  counter record_failures{0}; // writes of it, which are tried again
  /// Exit reasons, in their order.
  std::array<counter, exit_reasons> ended{};
  duration_histogram run_times;   // from request to result
  duration_histogram queue_times; // of these, until they were admitted

  static void add(counter& c, std::uint64_t n = 1) {
    c.fetch_add(n, std::memory_order_relaxed);
  }
  static std::uint64_t of(const counter& c) {
    return c.load(std::memory_order_relaxed);
  }
};

} // namespace troupe
