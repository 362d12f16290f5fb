#include "actors/state/circuit_breaker.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr double memory = 0.9; // of the score: ten runs make a new opinion

// One bad run in a while must not put a backend behind others.
constexpr double well_enough = 0.5;

std::string in_words(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count())
    + " s";
}

} // namespace

bool circuit_breaker::picture::is_sick() const {
  switch (circuit) {
  case state::closed:
    return score < well_enough;
  case state::open:
    return true;
  case state::half_open: // the next run is to find out
    return probing;
  }
  return true;
}

circuit_breaker::circuit_breaker(breaker_options options) : options_{options} {}

void circuit_breaker::enter(state next) {
  state_ = next;
  ++entered_[static_cast<std::size_t>(next)];
}

circuit_breaker::permit circuit_breaker::allow(clock::time_point now) {
  std::lock_guard guard{mutex_};
  if (state_ == state::closed)
    return {true, false};
  if (now < retry_at_ || probing_)
    return {};
  if (state_ != state::half_open)
    enter(state::half_open);
  probing_ = true;
  return {true, true};
}

circuit_breaker::change circuit_breaker::succeeded(clock::time_point now) {
  std::lock_guard guard{mutex_};
  score_ = memory * score_at(now) + (1 - memory);
  scored_at_ = now;
  in_a_row_ = 0;
  trips_ = 0;
  probing_ = false;
  if (state_ == state::closed)
    return change::none;
  // It is well again: what it was before must not keep it behind others.
  score_ = std::max(score_, well_enough);
  enter(state::closed);
  return change::closed;
}

circuit_breaker::change circuit_breaker::failed(clock::time_point now) {
  std::lock_guard guard{mutex_};
  score_ = memory * score_at(now);
  scored_at_ = now;
  ++in_a_row_;
  if (state_ == state::closed && in_a_row_ < options_.failures)
    return change::none;
  // A run that was sent before the circuit opened must not prolong the pause.
  if (state_ == state::open && now < retry_at_)
    return change::none;
  auto pause = options_.pause * (1ll << std::min<std::uint32_t>(trips_, 20));
  pause = std::min<std::chrono::milliseconds>(pause, options_.longest_pause);
  ++trips_;
  probing_ = false;
  retry_at_ = now + pause;
  const bool first = state_ == state::closed;
  if (state_ != state::open)
    enter(state::open);
  return first ? change::opened : change::none;
}

void circuit_breaker::abandoned(permit which) {
  if (!which.probe)
    return; // another one may be the probe
  std::lock_guard guard{mutex_};
  probing_ = false;
}

double circuit_breaker::score_at(clock::time_point now) const {
  using seconds = std::chrono::duration<double>;
  const auto passed = std::max<seconds>(now - scored_at_, seconds{0});
  return 1 - (1 - score_) * std::exp2(-passed / seconds{options_.half_life});
}

circuit_breaker::picture circuit_breaker::look(clock::time_point now) const {
  std::lock_guard guard{mutex_};
  picture seen;
  seen.circuit
    = state_ == state::open && now >= retry_at_ ? state::half_open : state_;
  seen.probing = probing_;
  seen.failures = in_a_row_;
  seen.score = score_at(now);
  using std::chrono::milliseconds;
  if (seen.circuit == state::open)
    seen.retry_in = std::chrono::ceil<milliseconds>(retry_at_ - now);
  else if (seen.circuit == state::closed && seen.score < well_enough)
    seen.retry_in = std::chrono::ceil<milliseconds>(
      std::chrono::duration<double, std::milli>{options_.half_life}
      * std::log2((1 - seen.score) / (1 - well_enough)));
  return seen;
}

std::array<std::uint64_t, circuit_breaker::states>
circuit_breaker::entered() const {
  std::lock_guard guard{mutex_};
  return entered_;
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

std::string why_passed_over(const circuit_breaker::picture& seen) {
  const auto failures = std::to_string(seen.failures)
    + (seen.failures == 1 ? " failure" : " failures");
  switch (seen.circuit) {
  case circuit_breaker::state::closed:
    return seen.is_sick()
      ? "failed often recently, next try in " + in_words(seen.retry_in)
      : "";
  case circuit_breaker::state::open:
    return "paused after " + failures + ", next try in "
      + in_words(seen.retry_in);
  case circuit_breaker::state::half_open:
    return "paused after " + failures
      + (seen.probing ? ", a probe run is in progress"
                      : ", the next run is the probe");
  }
  return {};
}

} // namespace troupe
