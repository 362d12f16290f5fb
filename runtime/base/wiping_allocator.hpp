#pragma once

#include "runtime/base/secret.hpp"

#include <cstddef>
#include <memory>

namespace troupe {

/// For containers of bytes that may be secret: wipes what it gives back.
template <class T>
struct wiping_allocator {
  using value_type = T;

  wiping_allocator() = default;
  template <class U>
  wiping_allocator(const wiping_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) { return std::allocator<T>{}.allocate(n); }
  void deallocate(T* at, std::size_t n) noexcept {
    wipe(at, n * sizeof(T));
    std::allocator<T>{}.deallocate(at, n);
  }
  friend bool operator==(const wiping_allocator&,
                         const wiping_allocator&) noexcept {
    return true;
  }
};

} // namespace troupe
