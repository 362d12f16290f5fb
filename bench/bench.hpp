#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// A frame for measuring: an area is a file of workloads that registers itself,
/// `troupe_bench [area] [--json]` runs it.
namespace troupe::bench {

/// One named figure. Ratios carry the promise they are measured against.
struct figure {
  std::string name; // "storage.sealed_write.ratio": area, workload, what
  double value = 0;
  std::string unit;          // "1/s", "us", "x"
  std::string promise;       // "<= 1.3", empty: none
  std::optional<bool> holds; // absent: no promise
};

/// What an area hands its figures to.
class report {
public:
  void add(std::string name, double value, std::string unit);
  /// A figure with a bound: table and JSON say whether it holds.
  void at_most(std::string name, double value, std::string unit, double bound);
  void at_least(std::string name, double value, std::string unit, double bound);
  /// A line for people: what was compared with what.
  void note(std::string text);

  const std::vector<figure>& figures() const { return figures_; }
  const std::vector<std::string>& notes() const { return notes_; }

private:
  std::vector<figure> figures_;
  std::vector<std::string> notes_;
};

/// Registers an area before main: `static area a{"storage", "...", run};`
struct area {
  /// Among all of them, or only when asked for: it takes long.
  enum asked : bool { always, when_named };
  area(std::string name, std::string about, std::function<void(report&)> run,
       asked when = always);
};

// -- measuring ---------------------------------------------------------------

using work = std::function<void()>;
using clock = std::chrono::steady_clock;

/// Seconds of wall time that `f` took.
double seconds(const work& f);

/// CPU seconds of this process, all threads.
double cpu_seconds();

/// Nanoseconds for a cache line to go from the first core to the second and
/// back; 0 with one core. On a virtual machine it changes by the minute, with
/// the places that its host gives to both, and with it what crosses threads.
double cores_apart();

double median(std::vector<double> values);
/// `q` in 0..1, nearest rank.
double quantile(std::vector<double> values, double q);

/// Runs every side once per round, in turning order, so that a slow moment of
/// the machine hits all of them. One unmeasured round comes first.
/// Returns seconds, by side then by round.
std::vector<std::vector<double>> interleave(std::size_t rounds,
                                            const std::vector<work>& sides);

/// The median over rounds of a/b, each taken in the same round.
double median_ratio(const std::vector<double>& a, const std::vector<double>& b);

/// Keeps the optimiser from dropping what nobody reads.
template <class T>
void keep(const T& value) {
  __asm__ __volatile__("" : : "g"(&value) : "memory");
}

} // namespace troupe::bench
