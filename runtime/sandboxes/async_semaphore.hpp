#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <deque>
#include <memory>

namespace troupe {

/// So many at a time. Who comes when all places are taken waits for one, in
/// the order of coming. On one executor.
class async_semaphore {
public:
  async_semaphore(boost::asio::any_io_executor executor, std::size_t most)
      : executor_{std::move(executor)}, most_{most} {}

  /// Whoever gets true leaves again. False when the scope was over first.
  boost::asio::awaitable<bool> take(call_scope scope);
  void leave();

  std::size_t taken() const { return taken_; }
  bool full() const { return taken_ >= most_; }
  bool awaited() const { return !waiting_.empty(); }

private:
  struct waiter {
    boost::asio::steady_timer timer;
    bool granted = false;
  };

  boost::asio::any_io_executor executor_;
  std::size_t most_;
  std::size_t taken_ = 0;
  std::deque<std::shared_ptr<waiter>> waiting_; // none while a place is free
};

} // namespace troupe
