#pragma once

#include <stdint.h>

namespace troupe::zygote {

/// The generator of V8's main isolate, which every context's Math.random and
/// much else is seeded from: two words in Node's heap.
class random_generator {
public:
  random_generator() = default;
  random_generator(const random_generator&) = delete;
  random_generator& operator=(const random_generator&) = delete;
  ~random_generator() { forget(); }

  /// Remembers the heap, before something draws from it ...
  void watch();
  /// ... and tells whether there is one place that went on as it does.
  bool find();
  /// Words that nobody else has. False where the place is not known.
  bool renew() const;

private:
  void forget();

  uintptr_t begin_ = 0;
  uintptr_t end_ = 0;
  uint64_t* before_ = nullptr; // of the same size, where it was present
  uint64_t* state_ = nullptr;
};

} // namespace troupe::zygote
