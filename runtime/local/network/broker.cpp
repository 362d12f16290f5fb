#include "runtime/local/network/broker.hpp"

#include "runtime/local/network/call_handler.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

namespace troupe::network {

namespace asio = boost::asio;

namespace {

// One tool must not keep the executor from the others.
constexpr int calls_per_turn = 32;

/// What outlives the owner's handle while operations are in flight.
class session : public std::enable_shared_from_this<session> {
public:
  session(asio::any_io_executor executor, unique_fd listener,
          std::shared_ptr<call_handler> calls)
      : listener_{std::move(executor), listener.release()}, calls_{std::move(
                                                              calls)} {}

  void start(network_policy policy) {
    asio::dispatch(listener_.get_executor(),
                   [self = shared_from_this(), policy = std::move(policy)] {
                     self->calls_->serve(policy);
                     self->await();
                   });
  }

  void reset(network_policy policy) {
    asio::dispatch(listener_.get_executor(),
                   [self = shared_from_this(), policy = std::move(policy)] {
                     self->calls_->serve(policy);
                   });
  }

  void close() {
    asio::dispatch(listener_.get_executor(),
                   [self = shared_from_this()] { self->shut(); });
  }

  broker::report decided() const { return calls_->decided(); }
  bool guarded() const { return calls_->guarded(); }

private:
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
    if (::ioctl(listener_.native_handle(), SECCOMP_IOCTL_NOTIF_RECV, &n) == 0)
      calls_->handle(tool_call{listener_.native_handle(), n});
  }

  void shut() {
    if (!listener_.is_open())
      return;
    calls_->close();
    boost::system::error_code ignored;
    listener_.close(ignored);
  }

  asio::posix::stream_descriptor listener_;
  std::shared_ptr<call_handler> calls_;
};

class handle final : public broker {
public:
  explicit handle(std::shared_ptr<session> s) : session_{std::move(s)} {}
  ~handle() override { session_->close(); }

  void reset(network_policy policy) override {
    session_->reset(std::move(policy));
  }
  report decided() const override { return session_->decided(); }
  bool guarded() const override { return session_->guarded(); }
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
  auto calls = call_handler::open(executor, std::move(options));
  if (!calls)
    return calls.error();
  auto s = std::make_shared<session>(std::move(executor), std::move(listener),
                                     std::move(*calls));
  s->start(std::move(policy));
  return std::shared_ptr<broker>{std::make_shared<handle>(std::move(s))};
}

} // namespace troupe::network
