#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace troupe {

/// One thread that only ever waits for sockets and timers.
class io_thread {
public:
  io_thread() = default;
  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;
  ~io_thread() {
    work_.reset();
    context_.stop();
    thread_.join();
  }

  boost::asio::any_io_executor executor() { return context_.get_executor(); }

private:
  // One thread: no lock is taken for the executor's own sake.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    work_{context_.get_executor()};
  std::thread thread_{[this] { context_.run(); }};
};

} // namespace troupe
