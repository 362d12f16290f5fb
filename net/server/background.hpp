#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::net {

/// A few threads for requests whose bodies are large: reading them takes longer
/// than an io thread may be away from other connections. They start with the
/// first one. Thread-safe.
class background {
public:
  using task = std::function<void()>;

  background(unsigned threads, std::size_t queue)
      : most_{threads}, room_{queue} {}
  ~background() { stop(); }

  /// False: too many wait, or it is over.
  bool put(task what);
  /// Ends what is under way, and forgets what has not begun.
  void stop();

private:
  void work();

  const unsigned most_;
  const std::size_t room_;
  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  std::deque<task> waiting_;
  std::vector<std::thread> threads_;
  bool over_ = false;
};

} // namespace troupe::net
