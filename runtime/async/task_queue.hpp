#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

/// What other threads want done on the one thread that runs an executor.
///
/// As asio::post, but that one wakes the thread while it holds the executor's
/// lock: the woken one often takes the processor from its waker, finds the
/// lock taken, and gives the processor back. Here the lock is free when the
/// bell rings, which saves two switches for every task that finds its reader
/// asleep; tasks for a thread that reads already wake nothing.
class task_queue : public std::enable_shared_from_this<task_queue> {
public:
  using task = std::function<void()>;

  explicit task_queue(boost::asio::any_io_executor home);
  task_queue(const task_queue&) = delete;
  task_queue& operator=(const task_queue&) = delete;
  ~task_queue();

  /// Before the first task. Until `close`, the executor has work to wait for.
  void open();
  /// From any thread; in order. Before `open` and after `close`, tasks take
  /// the way of asio::post.
  void put(task what);
  /// At home. What lies in the box is delivered all the same.
  void close();

  /// Marks the calling thread as idle inside the event loop of `home`: a task
  /// that it posts to an empty queue runs inline. nullptr ends this.
  static void
  mark_thread_between_handlers(const boost::asio::execution_context* home);

private:
  static void do_now(const task& what);
  void wait();
  bool take();
  void deliver();

  boost::asio::any_io_executor home_;
  boost::asio::posix::stream_descriptor wake_fd_; // at home
  int wake_fd_shared_ = -1;     // the same descriptor, for all threads
  std::array<char, 8> rings_{}; // the counter that a read returns; unused
  std::vector<task> taken_;     // at home
  std::size_t next_ = 0;        // of `taken_`

  std::mutex mutex_;
  std::vector<task> queued_;
  bool is_open_ = false;
  bool rung_ = false; // and not yet answered
};

} // namespace troupe
