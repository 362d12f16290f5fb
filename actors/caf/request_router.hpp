#pragma once

#include <caf/actor_companion.hpp>
#include <caf/all.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Requests from threads that are no actors: a hash map from request id to
/// completion, whatever the number of pending ones. An actor's own table and
/// clock are linear in it. Thread-safe.
class request_router {
public:
  struct pending {
    std::uint64_t route = 0; // to the actor that will not answer if it dies
    /// When it fails without an answer; of those from far away.
    std::chrono::steady_clock::time_point until
      = std::chrono::steady_clock::time_point::max();
    virtual ~pending() = default;
    /// Exactly once, on any thread. Quick.
    virtual void finish(caf::expected<caf::message> answer) = 0;
  };

  explicit request_router(caf::actor_system& system);
  ~request_router() { shutdown(); }

  /// Fails what is pending and everything that comes later.
  void shutdown();

  template <class Handle, class... Ts>
  std::uint64_t send(std::shared_ptr<pending> p, caf::message_priority priority,
                     const Handle& to, Ts&&... xs) {
    auto id = last_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!keep(id, std::move(p)))
      return id; // already failed
    caf::message_id mid{caf::message_id::default_async_value | id};
    if (priority == caf::message_priority::high)
      mid = mid.with_category(caf::message_id::urgent_message_category);
    caf::actor_cast<caf::abstract_actor*>(to)->enqueue(
      caf::make_mailbox_element(self_, mid, {}, std::forward<Ts>(xs)...),
      nullptr);
    return id;
  }

  /// The caller completes what it takes.
  std::shared_ptr<pending> take(std::uint64_t id);
  void fail_route(std::uint64_t route, const caf::error& why);
  /// Fails what should have been answered by then.
  void expire(std::chrono::steady_clock::time_point now);
  std::size_t size() const;

private:
  static constexpr std::size_t shard_count = 8;
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, std::shared_ptr<pending>> map;
  };

  bool keep(std::uint64_t id, std::shared_ptr<pending> p);
  void fail_if(const std::function<bool(const pending&)>& which,
               const caf::error& why);

  caf::actor handle_;
  caf::strong_actor_ptr self_; // stays: a late sender must not read null
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> last_{0};
  std::array<shard, shard_count> shards_;
};

} // namespace troupe
