#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace troupe {

struct breaker_options {
  std::uint32_t failures = 5; // in a row, before nobody is sent there
  std::chrono::milliseconds pause{1'000}; // before the first probe
  std::chrono::milliseconds longest_pause{30'000};
};

/// Keeps runs away from a backend that fails, and lets one through at a time
/// to see whether it is well again. Thread-safe; time is handed in.
class circuit_breaker {
public:
  using clock = std::chrono::steady_clock;
  enum class state : std::uint8_t { closed, open, half_open };

  explicit circuit_breaker(breaker_options options = {});

  /// A yes or a no. Whoever gets a yes owes an answer by `succeeded`, `failed`
  /// or `abandoned`.
  struct pass {
    bool given = false;
    bool probe = false; // the one that is let through in `half_open`
    explicit operator bool() const { return given; }
  };

  /// Whether a run may be sent now. In `half_open` one caller gets a yes.
  pass allow(clock::time_point now);
  void succeeded();
  void failed(clock::time_point now);
  /// The run ended in a way that says nothing about the backend.
  void abandoned(pass which);

  state now(clock::time_point now) const;
  /// 1 is well, 0 is not: failures weigh more the younger they are.
  double score() const;

private:
  mutable std::mutex mutex_;
  const breaker_options options_;
  state state_ = state::closed;
  std::uint32_t in_a_row_ = 0;
  std::uint32_t trips_ = 0;
  bool probing_ = false;
  double score_ = 1.0;
  clock::time_point retry_at_{};
};

std::string_view to_string(circuit_breaker::state s);

} // namespace troupe
