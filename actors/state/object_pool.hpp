#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace troupe {

/// Memory for objects of a kilobyte or more, one per run: the heap keeps no
/// cache of that size, so each would be searched for, and tidying up after it
/// touches unused memory. Blocks go back to the next run, still near the
/// processor. Each thread has a few at hand; the others wait on a shelf, at
/// most `kept` of them. Thread-safe.
template <class T>
class recycling_allocator {
public:
  using value_type = T;

  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n == 1 && !hand_is_gone)
      if (auto* block = at_hand().take())
        return static_cast<T*>(block);
    return static_cast<T*>(::operator new(n * sizeof(T), align));
  }

  void deallocate(T* block, std::size_t n) {
    if (n != 1 || hand_is_gone || !at_hand().put(block))
      ::operator delete(block, align);
  }

  friend bool operator==(recycling_allocator, recycling_allocator) {
    return true;
  }

private:
  static constexpr std::size_t kept = 256;
  static constexpr std::size_t few = 16; // at hand, and half of it at a time
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

  /// One thread's blocks: threads that free what others allocate, and the other
  /// way round, meets them at the shelf once in eight times.
  class hand {
  public:
    ~hand() {
      while (count_ > 0)
        ::operator delete(blocks_[--count_], align);
      hand_is_gone = true;
    }

    void* take() {
      if (count_ == 0)
        fetch();
      return count_ == 0 ? nullptr : blocks_[--count_];
    }

    /// False: the caller should return it to the heap.
    bool put(void* block) {
      if (count_ == few && !store())
        return false;
      blocks_[count_++] = block;
      return true;
    }

  private:
    void fetch() {
      auto& s = shelf();
      std::lock_guard guard{s.mutex};
      while (count_ < few / 2 && !s.blocks.empty()) {
        blocks_[count_++] = s.blocks.back();
        s.blocks.pop_back();
      }
    }

    bool store() {
      auto& s = shelf();
      std::lock_guard guard{s.mutex};
      if (s.blocks.size() + few / 2 > kept)
        return false;
      // What was used last stays here.
      s.blocks.insert(s.blocks.end(), blocks_.begin(),
                      blocks_.begin() + few / 2);
      std::move(blocks_.begin() + few / 2, blocks_.end(), blocks_.begin());
      count_ = few / 2;
      return true;
    }

    std::array<void*, few> blocks_;
    std::size_t count_ = 0;
  };

  /// A thread's last objects may go after its hand.
  static inline thread_local bool hand_is_gone = false;

  static hand& at_hand() {
    thread_local hand h;
    return h;
  }
};

/// `std::make_shared` for what comes and goes with every run.
template <class T, class... Xs>
std::shared_ptr<T> make_recycled(Xs&&... xs) {
  return std::allocate_shared<T>(recycling_allocator<T>{},
                                 std::forward<Xs>(xs)...);
}

} // namespace troupe
