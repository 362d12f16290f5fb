#include "bench/bench.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

namespace troupe::bench {

double seconds(const work& f) {
  auto start = clock::now();
  f();
  return std::chrono::duration<double>(clock::now() - start).count();
}

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

double cores_apart() {
  if (std::thread::hardware_concurrency() < 2)
    return 0;
  auto stay_on = [](int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
  };
  constexpr int trips = 50'000;
  std::atomic<int> line{0};
  auto play = [&](int core, int first) {
    stay_on(core);
    for (int turn = first; turn < 2 * trips; turn += 2) {
      while (line.load() != turn) {
      }
      line.store(turn + 1);
    }
  };
  const auto took = seconds([&] {
    std::thread here{play, 0, 0}, there{play, 1, 1};
    here.join();
    there.join();
  });
  return took * 1e9 / trips;
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty())
    return std::nan("");
  std::sort(values.begin(), values.end());
  auto rank = std::ceil(q * static_cast<double>(values.size()));
  auto i = rank < 1 ? std::size_t{0} : static_cast<std::size_t>(rank) - 1;
  return values[std::min(i, values.size() - 1)];
}

std::vector<std::vector<double>> interleave(std::size_t rounds,
                                            const std::vector<work>& sides) {
  std::vector<std::vector<double>> taken(sides.size());
  for (const auto& side : sides)
    side();
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < sides.size(); ++k) {
      auto i = (round + k) % sides.size();
      taken[i].push_back(seconds(sides[i]));
    }
  return taken;
}

double median_ratio(const std::vector<double>& a,
                    const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    ratios.push_back(a[i] / b[i]);
  return median(std::move(ratios));
}

} // namespace troupe::bench
