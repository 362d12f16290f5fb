#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace troupe::net {

class exchange;

/// What all streams together hold for readers that do not keep up. Each stream
/// has a bound of its own; thousands of them within it would still be more
/// memory than there is. The more there are, the less each may hold; should all
/// together still be over the limit, then of those that hold far more than
/// their share the one whose reader has taken nothing for longest ends.
/// Thread-safe.
class stream_budget {
public:
  explicit stream_budget(std::size_t limit) : limit_{limit} {}

  void enter(const std::shared_ptr<exchange>& stream);
  void leave(const exchange& stream) noexcept;

  void add(std::size_t bytes) noexcept { held_.fetch_add(bytes); }
  void remove(std::size_t bytes) noexcept { held_.fetch_sub(bytes); }
  std::size_t held() const noexcept { return held_.load(); }

  /// What one stream may hold now, `most` if there are few.
  std::size_t share(std::size_t most) const noexcept;

  /// Ends streams until the rest fits; to be called without a stream's lock.
  void keep_within_limit();

private:
  std::shared_ptr<exchange> slowest();

  const std::size_t limit_;
  std::atomic<std::size_t> held_{0};
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::unordered_map<const exchange*, std::weak_ptr<exchange>> open_;
};

} // namespace troupe::net
