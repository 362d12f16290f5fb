#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <vector>

namespace troupe {

class local_run;

/// Most runs are over within milliseconds, and what they say fits into their
/// pipes: it is read when they have ended. Only who runs longer is listened to
/// as it goes on. Saves a short run two of three wake-ups of the engine, and
/// its descriptors the way into epoll and out again. Used on one strand.
class deferred_reader : public std::enable_shared_from_this<deferred_reader> {
public:
  explicit deferred_reader(boost::asio::any_io_executor strand);

  /// Will be watched if it is still there in a moment.
  void add(const std::shared_ptr<local_run>& run);

private:
  void wait();
  void turn();

  boost::asio::steady_timer timer_;
  bool waiting_ = false;
  // By age, so that one timer does for all.
  std::vector<std::weak_ptr<local_run>> young_, old_;
};

} // namespace troupe
