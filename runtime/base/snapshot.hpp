#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe {

/// The newest picture of something, replaced as a whole and read by many.
template <class T>
class snapshot {
public:
  using ptr = std::shared_ptr<const T>;

  snapshot() = default;
  explicit snapshot(ptr first) : value_{std::move(first)} {}

  ptr load() const {
    std::lock_guard guard{mutex_};
    return value_;
  }

  void store(ptr next) {
    // The old one is destroyed after the lock is given back.
    std::lock_guard guard{mutex_};
    value_.swap(next);
    version_.fetch_add(1, std::memory_order_release);
  }

  /// One actor's copy, fetched again when there is a newer one: to ask whether
  /// there is takes no lock and writes nothing that others read.
  class cached {
  public:
    const ptr& of(const snapshot& newest) {
      if (newest.version_.load(std::memory_order_acquire) == version_)
        return value_;
      std::lock_guard guard{newest.mutex_};
      version_ = newest.version_.load(std::memory_order_relaxed);
      return value_ = newest.value_;
    }

  private:
    std::uint64_t version_ = 0;
    ptr value_;
  };

private:
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> version_{1}; // 0: nothing was seen yet
  ptr value_;
};

} // namespace troupe
