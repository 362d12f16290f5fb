#pragma once

#include "runtime/local/warm/packet_io.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace troupe::zygote {

/// The engine's end of one slot. Knows how to talk to it, decides nothing.
/// `unavailable`, for a reason.
error unavailable(std::string text);
/// What a `slot_failed` or `slot_born` packet complains about.
error describe(const packet& failure);

class slot : public std::enable_shared_from_this<slot> {
public:
  enum class state : std::uint8_t {
    making,
    idle,
    preforked,
    running,
    over, // its run is answered, and not quite gone
    dead
  };

  using heard = std::function<void(slot&, const packet&)>;
  using lost = std::function<void(slot&)>;

  slot(boost::asio::any_io_executor executor, std::string key, slot_sandbox on);

  /// What the zygote needs to make it. Our ends stay here.
  result<packet> make_order(descriptors& with);
  /// The order went out: closes what is the slot's now.
  void hand_over();

  /// `on_packet` for everything it says, `on_end` once, when it is gone.
  void listen(heard on_packet, lost on_end);

  /// Its zygote says which process it is, and it says that it is ready, under
  /// which number it holds its filter's listener; in any order.
  void set_process(unique_fd pidfd) { process_ = std::move(pidfd); }
  void set_ready(int listener);
  bool is_complete() const {
    return said_ready_ && (!sandbox_.network || process_);
  }
  /// Fetches the listener and puts a broker behind it, where there is to be
  /// one. An error: the slot is of no use.
  result<void> connect();
  /// The run is over: what was decided for it. Nothing of it waits any more.
  network::broker::report end_network();
  /// Nothing has become of its broker.
  bool has_network_left() const { return !broker_ || broker_->is_well(); }

  /// `flags`: of a `run`.
  bool run(std::uint64_t cpu_seconds, std::uint32_t flags, int out, int err,
           int channel);
  /// Forks a child that waits.
  bool prefork();
  /// It is to warm itself while it does.
  bool warm();
  /// Whether a `run` for a waiting child was never received.
  bool has_unread_run() const;
  /// Whether the kernel killed in its group for want of memory since it was
  /// asked last. With cgroup v2 the slot dies of it as well, and cannot say.
  bool ran_out_of_memory();
  void kill();
  /// Lets go: the slot ends itself and everything in it.
  void close();

  const std::string& key() const { return key_; }
  const slot_sandbox& on() const { return sandbox_; }
  /// Strict, and the slot cannot give each run a world of its own: however
  /// clean, it is gone after its first.
  bool is_single_use() const;
  std::uint64_t ticket() const { return sandbox_.ticket; }

  // What the carrier remembers about it.
  state now = state::making;
  std::int32_t pid = 0; // as its zygote counts
  std::uint64_t runs = 0;
  bool is_warm = false;                          // the child that waits
  std::chrono::steady_clock::time_point since{}; // in this state

private:
  void wait();

  std::string key_;
  slot_sandbox sandbox_;
  boost::asio::posix::stream_descriptor orders_;
  unique_fd preforked_;
  unique_fd far_orders_; // the slot's ends, until handed over
  unique_fd far_preforked_;
  unique_fd process_;              // until its listener was fetched
  std::uint64_t memory_kills_ = 0; // of its group, that are told already
  bool said_ready_ = false;
  int listener_ = -1;
  std::shared_ptr<network::broker> broker_;
  heard on_packet_;
  lost on_end_;
};

} // namespace troupe::zygote
