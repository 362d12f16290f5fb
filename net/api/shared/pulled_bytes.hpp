#pragma once

#include "net/server/exchange.hpp"

#include <memory>
#include <mutex>
#include <string_view>

namespace troupe::net {

/// A stream that is fetched from where it is kept, as fast as its client reads:
/// a slow one stops no other.
class pulled_bytes : public std::enable_shared_from_this<pulled_bytes> {
public:
  virtual ~pulled_bytes() = default;
  pulled_bytes(const pulled_bytes&) = delete;
  pulled_bytes& operator=(const pulled_bytes&) = delete;
  void start();

protected:
  explicit pulled_bytes(exchange_ptr ex) : ex_{std::move(ex)} {}

  /// Sends the head.
  virtual void open(exchange& ex) = 0;
  /// Writes what is next. False: it waits for `go_on`, or has ended.
  virtual bool step() = 0;
  /// The client went away before the end. On the connection's thread.
  virtual void left() {}

  /// Steps while there is something, and room for it. What it waits for calls
  /// this, perhaps at once: a flag keeps it a loop.
  void go_on();
  void put(std::string_view bytes) { ex_->write(bytes); }
  /// There is no more.
  void close();
  /// There is no more, and the client sees that it was not the end.
  void cut();
  exchange& on() { return *ex_; }

private:
  bool may_step();

  const exchange_ptr ex_;
  std::mutex mutex_; // guards what follows
  bool busy_ = false;
  bool again_ = false;
  bool over_ = false;
};

} // namespace troupe::net
