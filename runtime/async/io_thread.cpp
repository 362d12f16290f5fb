#include "runtime/async/io_thread.hpp"

namespace troupe {

io_thread::io_thread() : thread_{[this] { work(); }} {}

io_thread::~io_thread() {
  {
    std::lock_guard lock{mutex_};
    over_ = true;
  }
  changed_.notify_all();
  context_.stop();
  thread_.join();
}

void io_thread::work() {
  for (;;) {
    context_.run(); // until it is stopped
    std::unique_lock lock{mutex_};
    if (over_)
      return;
    aside_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return over_ || !taken_; });
    aside_ = false;
    if (over_)
      return;
    context_.restart();
  }
}

bool io_thread::take() {
  std::unique_lock lock{mutex_};
  if (taken_ || over_)
    return false;
  taken_ = true;
  context_.stop();
  changed_.wait(lock, [this] { return aside_; });
  context_.restart();
  tasks_->open();
  task_queue::mark_thread_between_handlers(&context_);
  return true;
}

void io_thread::serve_one() {
  task_queue::mark_thread_between_handlers(nullptr);
  context_.run_one();
  task_queue::mark_thread_between_handlers(&context_);
}

void io_thread::serve_ready() {
  task_queue::mark_thread_between_handlers(nullptr);
  // Who is never idle must not keep the thread from its other work.
  constexpr int at_most = 64;
  for (int i = 0; i < at_most && context_.poll_one() > 0; ++i)
    ;
  task_queue::mark_thread_between_handlers(&context_);
}

void io_thread::give_back() {
  task_queue::mark_thread_between_handlers(nullptr);
  {
    std::lock_guard lock{mutex_};
    taken_ = false;
  }
  changed_.notify_all();
}

void io_thread::wake() {
  tasks_->put([] {});
}

} // namespace troupe
