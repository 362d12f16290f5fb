#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe {

struct breaker_options {
  std::uint32_t failures = 5; // in a row, before no run is sent there
  std::chrono::milliseconds pause{1'000}; // before the first probe
  std::chrono::milliseconds longest_pause{30'000};
  /// Time in which the score regains half of what it lost, so that an unused
  /// backend does not keep a bad score.
  std::chrono::milliseconds half_life{30'000};
};

/// Keeps runs away from a backend that fails, and lets one through at a time
/// to see whether it is well again. Thread-safe; time is handed in.
class circuit_breaker {
public:
  using clock = std::chrono::steady_clock;
  enum class state : std::uint8_t { closed, open, half_open };
  static constexpr std::size_t states = 3;
  /// What the end of a run did to it, for the log.
  enum class change : std::uint8_t { none, opened, closed };

  /// What a look at it shows.
  struct picture {
    state circuit = state::closed;
    bool probing = false;       // in `half_open`: a run is there to see
    std::uint32_t failures = 0; // in a row
    double score = 1;           // 1 is well, 0 is not: it forgives with time
    std::chrono::milliseconds retry_in{0}; // until a run may go there first

    /// Behind others that are well.
    bool is_sick() const;
  };

  explicit circuit_breaker(breaker_options options = {});

  /// A yes or a no. After a yes the caller owes an answer by `succeeded`,
  /// `failed` or `abandoned`.
  struct permit {
    bool given = false;
    bool probe = false; // the one that is let through in `half_open`
    explicit operator bool() const { return given; }
  };

  /// Whether a run may be sent now. In `half_open` one caller gets a yes.
  permit allow(clock::time_point now);
  change succeeded(clock::time_point now);
  change failed(clock::time_point now);
  /// The run ended in a way that says nothing about the backend.
  void abandoned(permit which);

  picture look(clock::time_point now) const;
  /// How often each state was entered.
  std::array<std::uint64_t, states> entered() const;

private:
  double score_at(clock::time_point now) const;
  void enter(state next);

  mutable std::mutex mutex_;
  const breaker_options options_;
  state state_ = state::closed;
  std::uint32_t in_a_row_ = 0;
  std::uint32_t trips_ = 0;
  bool probing_ = false;
  double score_ = 1.0;
  clock::time_point scored_at_{};
  clock::time_point retry_at_{};
  std::array<std::uint64_t, states> entered_{};
};

std::string_view to_string(circuit_breaker::state s);

/// "paused after 5 failures, next try in 12 s"; "" for a healthy backend.
std::string why_passed_over(const circuit_breaker::picture& seen);

} // namespace troupe
