#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace troupe {

/// Memory for objects of a kilobyte or more, one per run: the heap keeps no
/// cache of that size, so each would be searched for, and tidying up after it
/// touches what nobody needs. Blocks go back to the next run, still near the
/// processor. At most `kept` wait; thread-safe.
template <class T>
class recycling_allocator {
public:
  using value_type = T;

  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n == 1) {
      auto& s = shelf();
      std::lock_guard guard{s.mutex};
      if (!s.blocks.empty()) {
        auto* block = s.blocks.back();
        s.blocks.pop_back();
        return static_cast<T*>(block);
      }
    }
    return static_cast<T*>(::operator new(n * sizeof(T), align));
  }

  void deallocate(T* block, std::size_t n) {
    if (n == 1) {
      auto& s = shelf();
      std::lock_guard guard{s.mutex};
      if (s.blocks.size() < kept) {
        s.blocks.push_back(block); // has room: reserved
        return;
      }
    }
    ::operator delete(block, align);
  }

  friend bool operator==(recycling_allocator, recycling_allocator) {
    return true;
  }

private:
  static constexpr std::size_t kept = 256;
  static constexpr std::align_val_t align{alignof(T)};

  struct shelf_type {
    shelf_type() { blocks.reserve(kept); }
    std::mutex mutex;
    std::vector<void*> blocks;
  };
  /// Never destroyed: an object may outlive everything that is static.
  static shelf_type& shelf() {
    static auto* s = new shelf_type;
    return *s;
  }
};

/// `std::make_shared` for what comes and goes with every run.
template <class T, class... Xs>
std::shared_ptr<T> make_recycled(Xs&&... xs) {
  return std::allocate_shared<T>(recycling_allocator<T>{},
                                 std::forward<Xs>(xs)...);
}

} // namespace troupe
