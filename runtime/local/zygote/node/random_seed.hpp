#pragma once

#include <stdint.h>

namespace troupe::zygote {

/// Where V8 keeps the flag that Math.random is seeded from.
class random_seed {
public:
  /// It is `value` now, as everybody was told. After some of these with
  /// different numbers there is one place left.
  void is_now(int32_t value);
  /// False where the place is not known: it has to be said in words.
  bool set(int32_t value) const;

private:
  static constexpr int most = 64;
  bool looked_ = false;
  int count_ = 0;
  int32_t* places_[most];
};

} // namespace troupe::zygote
