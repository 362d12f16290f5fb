#pragma once

#include "runtime/sandboxes/async_semaphore.hpp"
#include "runtime/sandboxes/lease_manager.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "runtime/sandboxes/sandbox_pool.hpp"

#include <boost/asio/steady_timer.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

namespace troupe {

/// Whatever is still going on, so that an end can wait for it. Thread-safe.
class wait_group {
public:
  void begin() {
    std::lock_guard guard{mutex_};
    ++count_;
  }
  void end() {
    std::lock_guard guard{mutex_};
    --count_;
    changed_.notify_all();
  }
  /// Whether nothing is left.
  bool wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [this] { return count_ == 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

/// Where runs get their sandboxes from and leave them: made fresh, made ahead,
/// or kept from an earlier run where the config asks for it. Never more at a
/// time than the provider allows, those that are just being ended included.
/// On the client's executor.
class sandbox_provisioner
    : public std::enable_shared_from_this<sandbox_provisioner> {
public:
  sandbox_provisioner(std::shared_ptr<sandbox_provider> where,
                      std::shared_ptr<lease_manager> leases,
                      boost::asio::any_io_executor executor,
                      provider_limits options,
                      std::shared_ptr<wait_group> in_progress);

  /// Told to people who wait: "installing with pip".
  using progress_sink = std::function<void(std::string_view)>;

  /// One with the packages and variables that are wanted; with `reuse` one that
  /// earlier runs may have used and later ones may get. The scope bounds all of
  /// it. Whatever goes wrong, nothing of the caller's has begun in it.
  boost::asio::awaitable<result<acquired_sandbox>>
  acquire(sandbox_request wanted, bool reuse, progress_sink progress,
          call_scope scope);

  /// After the run; returns at once. Only one whose program `ended_well`, with
  /// nothing of it left, may serve another run.
  void release(acquired_sandbox one, bool ended_well, std::string traceparent);

  /// Ends everything that waits; nothing is made any more.
  void close();

private:
  using held_or_error = result<acquired_sandbox>;

  std::string key_of(const sandbox_request& wanted, bool stays) const;
  std::chrono::seconds lifetime_of(const sandbox_request& wanted) const;

  boost::asio::awaitable<std::optional<acquired_sandbox>>
  take_pooled(const sandbox_request& wanted, std::string key, bool may_follow,
              call_scope scope);
  boost::asio::awaitable<held_or_error>
  make(sandbox_request wanted, progress_sink progress, call_scope scope);
  boost::asio::awaitable<result<void>> install(const sandbox_request& wanted,
                                               const sandbox_handle& box,
                                               progress_sink progress,
                                               call_scope scope);
  boost::asio::awaitable<void> prewarm_one(sandbox_request wanted,
                                           std::shared_ptr<cancellation> off);
  void refill_prewarmed(sandbox_request wanted, const std::string& key);

  boost::asio::awaitable<bool> find_room(call_scope scope);
  boost::asio::awaitable<bool> wait_for_turn(call_scope scope);

  void destroy_async(acquired_sandbox one, std::string traceparent);
  boost::asio::awaitable<void> end(acquired_sandbox one,
                                   std::string traceparent);
  boost::asio::awaitable<void> reap_expired();

  std::shared_ptr<sandbox_provider> where_;
  std::shared_ptr<lease_manager> leases_;
  boost::asio::any_io_executor executor_;
  provider_limits options_;
  std::shared_ptr<wait_group> in_progress_;

  sandbox_pool pool_;
  async_semaphore room_; // of what is there, being made, being ended
  std::chrono::steady_clock::time_point next_creation_{};
  std::set<std::shared_ptr<cancellation>> making_ahead_;
  boost::asio::steady_timer next_look_;
  bool looking_ = false;
  bool closed_ = false;
};

} // namespace troupe
