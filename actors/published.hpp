#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace troupe {

/// The newest picture of something, replaced as a whole and read by many.
template <class T>
class published {
public:
  using ptr = std::shared_ptr<const T>;

  published() = default;
  explicit published(ptr first) : value_{std::move(first)} {}

  ptr load() const {
    std::lock_guard guard{mutex_};
    return value_;
  }

  void store(ptr next) {
    // The old one is destroyed after the lock is given back.
    std::lock_guard guard{mutex_};
    value_.swap(next);
  }

private:
  mutable std::mutex mutex_;
  ptr value_;
};

} // namespace troupe
