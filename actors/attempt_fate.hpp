#pragma once

#include "runtime/backend.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace troupe {

/// Where the attempt of a run stands, for the case that its executor dies: what
/// the backend never saw goes to another executor, what it has goes on, and the
/// word of its end reaches the dispatcher all the same. A run has one attempt
/// at a time; the executor, the backend and the dispatcher each write once to
/// it.
class attempt_fate {
public:
  /// The executor gives it to the backend: from here on it may begin.
  void taken(std::uint32_t number) { state_.store(word(number, step::taken)); }

  /// The backend has ended it. True: its executor is dead, tell the dispatcher.
  bool ended(std::uint32_t number, std::shared_ptr<run_outcome> outcome) {
    outcome_ = std::move(outcome);
    return state_.exchange(word(number, step::ended))
      == word(number, step::inherited);
  }

  enum class found : std::uint8_t { untouched, under_way, over };
  /// Its executor is dead, the dispatcher takes its place. `untouched` and
  /// `over` are final; of what is under way, the backend tells the dispatcher.
  found inherit(std::uint32_t number) {
    auto now = word(number, step::taken);
    if (state_.compare_exchange_strong(now, word(number, step::inherited)))
      return found::under_way;
    return now == word(number, step::ended) ? found::over : found::untouched;
  }
  /// Of one that is over.
  std::shared_ptr<run_outcome> outcome() { return std::move(outcome_); }
  /// The dispatcher got it on the usual way.
  void forget() { outcome_.reset(); }

private:
  enum class step : std::uint8_t { none, taken, ended, inherited };
  static std::uint64_t word(std::uint32_t number, step at) {
    return std::uint64_t{number} << 8 | static_cast<std::uint8_t>(at);
  }

  std::atomic<std::uint64_t> state_{0};
  std::shared_ptr<run_outcome> outcome_;
};

} // namespace troupe
