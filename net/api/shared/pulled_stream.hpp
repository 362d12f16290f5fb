#pragma once

#include "net/api/shared/run_json.hpp"
#include "net/server/exchange.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::net {

/// A stream whose entries are fetched from where they are kept, as fast as its
/// client reads: a slow one stops no other.
class pulled_stream : public std::enable_shared_from_this<pulled_stream> {
public:
  virtual ~pulled_stream() = default;
  void start();

protected:
  pulled_stream(exchange_ptr ex, stream_format format)
      : ex_{std::move(ex)}, format_{format} {}

  /// Writes what is next. False: it waits for `go_on`, or has ended.
  virtual bool step() = 0;
  /// The client has gone: what is waited for need not come any more.
  virtual void left() {}
  /// Steps while there is something, and room for it. What it waits for calls
  /// this, perhaps at once: a flag keeps it a loop.
  void go_on();
  void write(std::string_view event, std::string data, std::uint64_t id = 0);
  /// The last entry.
  void end(std::string_view event, std::string data);
  /// Ends with why it cannot go on.
  void give_up(const error& why);

private:
  bool may_step();

  const exchange_ptr ex_;
  const stream_format format_;
  std::mutex mutex_; // guards what follows
  bool busy_ = false;
  bool again_ = false;
  bool over_ = false;
};

} // namespace troupe::net
