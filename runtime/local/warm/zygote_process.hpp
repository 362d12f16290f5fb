#pragma once

#include "runtime/local/warm/slot.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <map>
#include <memory>

namespace troupe::zygote {

/// The engine's end of one warm interpreter and of the slots it cloned.
class zygote_process : public std::enable_shared_from_this<zygote_process> {
public:
  struct events {
    std::function<void()> ready;                // slots may be asked for
    std::function<void(std::string why)> ended; // once, and last
    std::function<void(std::shared_ptr<slot>)> slot_born;
    std::function<void(std::shared_ptr<slot>, error)> slot_failed;
  };

  zygote_process(boost::asio::any_io_executor executor, unique_fd control);

  void listen(events told);
  /// Asks for a slot. It reports itself, unless `slot_failed` is told.
  result<void> make(std::shared_ptr<slot> s);
  /// The slot is of no more interest here.
  void forget(const slot& s);
  /// Ends the interpreter and every slot of it.
  void close();

  bool is_ready() const { return ready_; }
  std::int32_t pid() const { return pid_; }
  std::uint64_t huge_pages() const { return huge_pages_; }
  std::uint64_t hot_blocks() const { return hot_blocks_; }
  std::uint64_t ready_pages() const { return ready_pages_; }

  // What the carrier remembers about it.
  std::uint64_t runs = 0;
  std::size_t slots = 0;
  std::chrono::steady_clock::time_point born{};
  bool retiring = false;
  bool hangs = false;       // nothing but a kill ends it
  std::uint64_t number = 0; // of who hatched it

private:
  void wait();
  void hear(const packet& in, unique_fd pidfd);
  void end(std::string why);

  boost::asio::posix::stream_descriptor control_;
  events told_;
  bool ready_ = false;
  std::int32_t pid_ = 0;
  std::uint64_t huge_pages_ = 0;
  std::uint64_t hot_blocks_ = 0;
  std::uint64_t ready_pages_ = 0;
  std::map<std::uint64_t, std::shared_ptr<slot>> starting_; // by ticket
};

} // namespace troupe::zygote
