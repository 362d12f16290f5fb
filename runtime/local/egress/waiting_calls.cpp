// Calls whose socket is not ready: they wait for it, or until their caller is
// gone.
#include "runtime/local/egress/syscall_handler.hpp"

#include <sys/epoll.h>

#include <utility>

namespace troupe::network {

namespace {

/// How often it is asked whether the callers are still there.
constexpr std::chrono::seconds sweep_interval{1};

} // namespace

/// A call whose socket is not ready.
struct syscall_handler::waiting {
  std::shared_ptr<notified_syscall> call;
  quota::hold held;
  unique_fd socket;
  boost::asio::posix::stream_descriptor writable;
};

void syscall_handler::when_writable(unique_fd fd,
                                    std::shared_ptr<notified_syscall> call,
                                    std::size_t bytes,
                                    std::function<void(unique_fd)> ready) {
  auto held = quota_.wait_with(bytes);
  // Asio would make what it waits for non-blocking, and this open file is the
  // tool's: so it waits for an epoll that waits for the file.
  unique_fd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  epoll_event writable{};
  writable.events = EPOLLOUT;
  if (!held || !epoll
      || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &writable) != 0)
    return call->fail(ENOBUFS);
  auto op = std::make_shared<waiting>(waiting{std::move(call),
                                              std::move(held),
                                              std::move(fd),
                                              {executor_, epoll.release()}});
  const auto number = next_waiting_++;
  waiting_.emplace(number, op);
  op->writable.async_wait(
    boost::asio::posix::descriptor_base::wait_read,
    [weak = weak_from_this(), number,
     ready = std::move(ready)](boost::system::error_code bad) {
      auto self = weak.lock();
      if (!self || bad)
        return;
      // Not there any more: its run is over, or its caller.
      if (auto node = self->waiting_.extract(number)) {
        auto socket = std::move(node.mapped()->socket);
        node.mapped().reset(); // what it held is free again
        ready(std::move(socket));
      }
    });
  sweep_soon();
}

void syscall_handler::sweep_soon() {
  if (std::exchange(sweeps_, true))
    return;
  sweep_.expires_after(sweep_interval);
  sweep_.async_wait([weak = weak_from_this()](boost::system::error_code bad) {
    if (auto self = weak.lock(); self && !bad)
      self->sweep();
  });
}

/// A process of the tool that dies in a call tells nobody.
void syscall_handler::sweep() {
  sweeps_ = false;
  let_go_of_dead();
  if (!waiting_.empty())
    sweep_soon();
}

void syscall_handler::let_go_of_dead() {
  std::erase_if(waiting_, [](const auto& entry) {
    return !entry.second->call->still_waits();
  });
}

} // namespace troupe::network
