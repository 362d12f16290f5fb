#include "runtime/async/task_queue.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace troupe {

namespace asio = boost::asio;

namespace {
thread_local const asio::execution_context* resting = nullptr;
}

void task_queue::mark_thread_between_handlers(
  const asio::execution_context* home) {
  resting = home;
}

/// What it puts in turn waits until it is over, as in any handler.
void task_queue::do_now(const task& what) {
  struct busy {
    const asio::execution_context* home = std::exchange(resting, nullptr);
    ~busy() { resting = home; }
  } until_done;
  what();
}

task_queue::task_queue(asio::any_io_executor home)
    : home_{std::move(home)}, wake_fd_{home_} {}

task_queue::~task_queue() {
  if (wake_fd_shared_ >= 0)
    ::close(wake_fd_shared_);
}

void task_queue::open() {
  if (wake_fd_shared_ >= 0)
    return;
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  wake_fd_shared_ = fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  boost::system::error_code failed;
  if (wake_fd_shared_ >= 0)
    wake_fd_.assign(fd, failed);
  if (wake_fd_shared_ < 0 || failed) {
    if (fd >= 0)
      ::close(fd);
    return; // asio::post has to do
  }
  {
    std::lock_guard lock{mutex_};
    is_open_ = true;
  }
  wait();
}

void task_queue::put(task what) {
  const bool at_rest = resting && resting == &home_.context();
  {
    std::lock_guard lock{mutex_};
    // One that is rung for is not empty, or will be emptied in a moment.
    const bool now = at_rest && is_open_ && !rung_;
    if (is_open_ && !now) {
      queued_.push_back(std::move(what));
      if (std::exchange(rung_, true))
        return;
      what = nullptr;
    } else if (!now) {
      return asio::post(home_, std::move(what));
    }
  }
  if (what)
    return do_now(what);
  constexpr std::uint64_t once = 1;
  // It cannot fail: the counter is far from full.
  [[maybe_unused]] const auto written
    = ::write(wake_fd_shared_, &once, sizeof once);
}

/// A read that has to wait is one system call less than a wait and a read.
void task_queue::wait() {
  wake_fd_.async_read_some(
    asio::buffer(rings_),
    [weak = weak_from_this()](const boost::system::error_code& bad,
                              std::size_t) {
      auto self = weak.lock();
      if (!self || bad)
        return;
      if (self->take())
        self->deliver();
      else
        self->wait();
    });
}

/// False: nothing is there, and the next task rings.
bool task_queue::take() {
  std::lock_guard lock{mutex_};
  rung_ = !queued_.empty();
  taken_.swap(queued_);
  return rung_;
}

void task_queue::deliver() {
  // Others at home have their turn between two lots; one that throws keeps
  // nobody from his task.
  const auto go_on = [self = shared_from_this()] { self->deliver(); };
  try {
    while (next_ < taken_.size())
      std::exchange(taken_[next_++], nullptr)();
  } catch (...) {
    asio::post(home_, go_on);
    throw;
  }
  taken_.clear();
  next_ = 0;
  if (take())
    asio::post(home_, go_on);
  else if (wake_fd_.is_open())
    wait();
}

void task_queue::close() {
  boost::system::error_code ignored;
  wake_fd_.close(ignored);
  std::lock_guard lock{mutex_}; // held: later tasks come after these
  is_open_ = false;
  for (auto& what : std::exchange(queued_, {}))
    asio::post(home_, std::move(what));
}

} // namespace troupe
