#include "net/server/background.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace troupe::net {

bool background::put(task what) {
  {
    std::lock_guard lock{mutex_};
    if (over_ || waiting_.size() >= room_)
      return false;
    if (threads_.size() < most_)
      threads_.emplace_back([this] { work(); });
    waiting_.push_back(std::move(what));
  }
  changed_.notify_one();
  return true;
}

void background::work() {
  sigset_t all;
  sigfillset(&all); // signals belong to the main thread
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "troupe-bodies");
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_)
      return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    next = nullptr; // what it held goes without the lock
    lock.lock();
  }
}

void background::stop() {
  std::deque<task> dropped;
  std::vector<std::thread> ended;
  {
    std::lock_guard lock{mutex_};
    over_ = true;
    dropped.swap(waiting_);
    ended.swap(threads_);
  }
  changed_.notify_all();
  for (auto& each : ended)
    each.join();
}

} // namespace troupe::net
