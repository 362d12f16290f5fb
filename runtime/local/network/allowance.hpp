#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace troupe::network {

/// So many at once, and then so many a second.
class allowance {
public:
  using clock = std::chrono::steady_clock;

  allowance(std::size_t at_once, std::size_t per_second)
      : most_{static_cast<double>(at_once)},
        per_second_{static_cast<double>(per_second)}, left_{most_} {}

  bool take(clock::time_point now) {
    const std::chrono::duration<double> since = now - last_;
    left_ = std::min(most_, left_ + since.count() * per_second_);
    last_ = now;
    if (left_ < 1)
      return false;
    left_ -= 1;
    return true;
  }

private:
  double most_;
  double per_second_;
  double left_;
  clock::time_point last_ = clock::now();
};

} // namespace troupe::network
