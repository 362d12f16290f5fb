#pragma once

#include "runtime/base/unique_fd.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Reads one descriptor to its end without ever holding more than a bound:
/// the first `limit` bytes are kept, the rest is counted and dropped, so that
/// a chatty tool neither blocks nor fills our memory.
class output_capture {
public:
  output_capture(boost::asio::any_io_executor strand, int fd,
                 std::size_t limit);

  /// `kept` sees all that is kept, in pieces that end with their line unless it
  /// takes long to; `over` is called once when something was dropped.
  void start(std::function<void(std::string_view)> kept,
             std::function<void()> over = {});

  /// Reads from now on as it comes; before, the pipe has to hold it. `owner`
  /// keeps this object alive meanwhile. False: it cannot be watched now.
  bool watch(std::shared_ptr<void> owner);

  /// Takes what is there right now, then closes. Everybody who could still
  /// write is dead.
  void finish();

  int fd();
  std::string take() { return std::move(kept_); }
  std::uint64_t bytes() const { return bytes_; }
  bool truncated() const { return bytes_ > kept_bytes_; }

private:
  /// False: would block, or the end.
  bool read_once();
  void wait();
  void tell(std::string_view piece);
  void tell_held();

  bool is_open() const { return fd_ || source_.is_open(); }

  unique_fd fd_; // until it is watched
  boost::asio::posix::stream_descriptor source_;
  std::size_t limit_;
  std::string kept_;
  std::uint64_t bytes_ = 0;
  std::uint64_t kept_bytes_ = 0;
  bool ended_ = false;
  std::shared_ptr<void> owner_;
  std::function<void(std::string_view)> on_kept_;
  std::function<void()> on_over_;
  std::string held_; // a line that has not ended
  std::optional<boost::asio::steady_timer> hold_;
};

/// Writes a text into a socket as fast as the other side reads it.
class input_feed {
public:
  explicit input_feed(boost::asio::any_io_executor strand);

  /// `text` is wiped when it has been written, or will not be. `fd` stays the
  /// caller's: most texts fit at once, only for the rest of one a copy is kept.
  void start(std::shared_ptr<void> owner, int fd, std::string text);
  void stop();
  ~input_feed();

private:
  /// False: the rest has to wait.
  bool write(int fd);
  void write_later();
  void finish();

  boost::asio::posix::stream_descriptor target_;
  std::string text_;
  std::size_t written_ = 0;
  std::shared_ptr<void> owner_;
};

} // namespace troupe
