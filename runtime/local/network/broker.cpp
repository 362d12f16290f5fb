#include "runtime/local/network/broker.hpp"

#include "runtime/local/network/call_handler.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <mutex>

namespace troupe::network {

namespace asio = boost::asio;

namespace {

// One tool must not keep the executor from the others.
constexpr int calls_per_turn = 32;

/// What outlives the owner's handle while operations are in flight.
///
/// Most tools never touch the network: what serves calls, a socket for lookups
/// above all, is made when the first call comes.
class session : public std::enable_shared_from_this<session> {
public:
  session(asio::any_io_executor executor, unique_fd listener,
          network_policy policy, broker_options options)
      : listener_{executor, listener.release()}, executor_{executor},
        policy_{std::move(policy)}, options_{std::move(options)} {}

  void start() {
    asio::dispatch(executor_, [self = shared_from_this()] { self->await(); });
  }

  void reset(network_policy policy) {
    asio::dispatch(
      executor_,
      [self = shared_from_this(), policy = std::move(policy)]() mutable {
        self->serve(std::move(policy));
      });
  }

  void close() {
    asio::dispatch(executor_, [self = shared_from_this()] { self->shut(); });
  }

  broker::report decided() const {
    std::lock_guard lock{mutex_};
    return used_ ? calls_->decided() : broker::report{};
  }

private:
  void serve(network_policy policy) {
    std::lock_guard lock{mutex_};
    const bool same = policy == policy_;
    policy_ = std::move(policy);
    if (calls_ && (used_ || !same))
      calls_->serve(policy_);
    used_ = false;
  }

  void await() {
    if (!listener_.is_open())
      return;
    listener_.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [self = shared_from_this()](boost::system::error_code bad) {
        if (!bad && self->turn())
          self->await();
      });
  }

  /// False when the tool is gone.
  bool turn() {
    bool open = true;
    for (int i = 0; open && i < calls_per_turn; ++i) {
      pollfd p{listener_.native_handle(), POLLIN, 0};
      if (::poll(&p, 1, 0) <= 0)
        break;
      // Only POLLIN promises that RECV does not wait.
      if ((p.revents & POLLIN) != 0)
        receive();
      else
        open = false;
    }
    if (!open)
      shut();
    return open;
  }

  void receive() {
    seccomp_notif n;
    std::memset(&n, 0, sizeof n); // the kernel insists
    if (::ioctl(listener_.native_handle(), SECCOMP_IOCTL_NOTIF_RECV, &n) != 0)
      return;
    tool_call call{listener_.native_handle(), n};
    if (!get_ready())
      return call.fail(EACCES);
    calls_->handle(std::move(call));
  }

  bool get_ready() {
    std::lock_guard lock{mutex_};
    used_ = true;
    if (calls_)
      return true;
    auto made = call_handler::open(executor_, options_);
    used_ = made.has_value();
    if (!made)
      return false; // no descriptors left, say; the next call tries again
    calls_ = std::move(*made);
    calls_->serve(policy_);
    return true;
  }

  void shut() {
    if (!listener_.is_open())
      return;
    if (calls_)
      calls_->close();
    boost::system::error_code ignored;
    listener_.close(ignored);
  }

  asio::posix::stream_descriptor listener_;
  asio::any_io_executor executor_;
  mutable std::mutex mutex_; // for who asks what was decided
  network_policy policy_;
  broker_options options_;
  std::shared_ptr<call_handler> calls_; // empty: nobody has called yet
  bool used_ = false;                   // since the last reset
};

class handle final : public broker {
public:
  explicit handle(std::shared_ptr<session> s) : session_{std::move(s)} {}
  ~handle() override { session_->close(); }

  void reset(network_policy policy) override {
    session_->reset(std::move(policy));
  }
  report decided() const override { return session_->decided(); }
  void close() override { session_->close(); }

private:
  std::shared_ptr<session> session_;
};

} // namespace

result<std::shared_ptr<broker>> broker::open(asio::any_io_executor executor,
                                             unique_fd listener,
                                             network_policy policy,
                                             broker_options options) {
  if (!listener)
    return error{ec::internal, "no listener for the network broker", {}, {}};
  auto s = std::make_shared<session>(std::move(executor), std::move(listener),
                                     std::move(policy), std::move(options));
  s->start();
  return std::shared_ptr<broker>{std::make_shared<handle>(std::move(s))};
}

} // namespace troupe::network
