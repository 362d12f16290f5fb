#pragma once

#include "runtime/async/task_queue.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace troupe {

/// One thread that only ever waits for sockets and timers.
///
/// Another thread may take its place for a while, to do its own work between
/// two events: what they have to tell each other needs no switch then.
class io_thread {
public:
  io_thread();
  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;
  ~io_thread();

  boost::asio::any_io_executor executor() { return context_.get_executor(); }
  boost::asio::io_context& context() { return context_; }

  // -- for the thread that takes our place
  // -------------------------------------

  /// False: another one has it.
  bool take();
  /// Waits for something to do, and does it.
  void serve_one();
  /// Does what is ready, if anything is; not more than a turn's share.
  void serve_ready();
  void give_back();
  /// Ends a `serve_one` that waits; from any thread.
  void wake();

private:
  void work();

  // One thread at a time: no lock is taken for the executor's own sake.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    busy_{context_.get_executor()};
  std::shared_ptr<task_queue> tasks_
    = std::make_shared<task_queue>(context_.get_executor());

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  bool aside_ = false; // our thread stands aside
  bool over_ = false;
  std::thread thread_; // last: it uses the others
};

} // namespace troupe
