#include "actors/circuit_breaker.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr double memory = 0.9; // of the score: ten runs make a new opinion

} // namespace

circuit_breaker::circuit_breaker(breaker_options options) : options_{options} {}

circuit_breaker::pass circuit_breaker::allow(clock::time_point now) {
  std::lock_guard guard{mutex_};
  if (state_ == state::closed)
    return {true, false};
  if (now < retry_at_ || probing_)
    return {};
  state_ = state::half_open;
  probing_ = true;
  return {true, true};
}

void circuit_breaker::succeeded() {
  std::lock_guard guard{mutex_};
  score_ = memory * score_ + (1 - memory);
  state_ = state::closed;
  in_a_row_ = 0;
  trips_ = 0;
  probing_ = false;
}

void circuit_breaker::failed(clock::time_point now) {
  std::lock_guard guard{mutex_};
  score_ *= memory;
  ++in_a_row_;
  if (state_ == state::closed && in_a_row_ < options_.failures)
    return;
  // A run that was sent before the circuit opened must not prolong the pause.
  if (state_ == state::open && now < retry_at_)
    return;
  auto pause = options_.pause * (1ll << std::min<std::uint32_t>(trips_, 20));
  pause = std::min<std::chrono::milliseconds>(pause, options_.longest_pause);
  ++trips_;
  state_ = state::open;
  probing_ = false;
  retry_at_ = now + pause;
}

void circuit_breaker::abandoned(pass which) {
  if (!which.probe)
    return; // another one may be the probe
  std::lock_guard guard{mutex_};
  probing_ = false;
}

circuit_breaker::state circuit_breaker::now(clock::time_point now) const {
  std::lock_guard guard{mutex_};
  if (state_ == state::open && now >= retry_at_)
    return state::half_open;
  return state_;
}

double circuit_breaker::score() const {
  std::lock_guard guard{mutex_};
  return score_;
}

std::string_view to_string(circuit_breaker::state s) {
  switch (s) {
  case circuit_breaker::state::closed:
    return "closed";
  case circuit_breaker::state::open:
    return "open";
  case circuit_breaker::state::half_open:
    return "half_open";
  }
  return "open";
}

} // namespace troupe
