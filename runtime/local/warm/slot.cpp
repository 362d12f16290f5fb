#include "runtime/local/warm/slot.hpp"

#include "runtime/local/isolation/step.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace troupe::zygote {

namespace {

bool make_pair(unique_fd& near, unique_fd& far) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return false;
  near.reset(pair[0]);
  far.reset(pair[1]);
  return true;
}

/// In memory.oom_control of version 1 and in memory.events of version 2.
std::uint64_t memory_kills(const unique_fd& events) {
  char text[512];
  const auto size = events ? ::pread(events.get(), text, sizeof text, 0) : -1;
  std::string_view rest{text, size > 0 ? static_cast<std::size_t>(size) : 0};
  constexpr std::string_view name = "oom_kill ";
  std::uint64_t count = 0;
  if (const auto at = rest.find(name); at != rest.npos)
    std::from_chars(rest.data() + at + name.size(), rest.data() + rest.size(),
                    count);
  return count;
}

} // namespace

error unavailable(std::string text) {
  error e;
  e.code = ec::unavailable;
  e.text = std::move(text);
  return e;
}

error describe(const packet& failure) {
  const auto at = static_cast<isolation::step>(failure.step);
  return unavailable("isolation failed at "
                     + std::string{isolation::to_string(at)} + ": "
                     + std::strerror(failure.error_number));
}

slot::slot(boost::asio::any_io_executor executor, std::string key,
           slot_sandbox on)
    : since{std::chrono::steady_clock::now()}, key_{std::move(key)},
      sandbox_{std::move(on)}, orders_{std::move(executor)},
      memory_kills_{memory_kills(sandbox_.events)} {}

result<packet> slot::make_order(descriptors& with) {
  unique_fd near;
  if (!make_pair(near, far_orders_) || !make_pair(preforked_, far_preforked_))
    return unavailable(std::string{"no socket for a slot: "}
                       + std::strerror(errno));
  orders_.assign(near.release());
  packet order;
  order.what = word::make_slot;
  order.slot = sandbox_.ticket;
  order.clone_flags = sandbox_.clone_flags;
  order.uid = sandbox_.uid;
  order.gid = sandbox_.gid;
  order.groups = static_cast<std::uint32_t>(sandbox_.groups.size());
  order.flags = (sandbox_.new_user ? new_user : 0u)
    | (sandbox_.privileged ? privileged : 0u)
    | (sandbox_.network ? has_network : 0u);
  with.count = 0;
  const auto add
    = [&with](const unique_fd& fd) { with.fd[with.count++] = fd.get(); };
  add(far_orders_);
  add(far_preforked_);
  add(sandbox_.plan);
  for (const auto& group : sandbox_.groups)
    add(group);
  const auto add_if = [&](const unique_fd& fd, std::uint32_t flag) {
    if (!fd)
      return;
    order.flags |= flag;
    add(fd);
  };
  add_if(sandbox_.peak, has_peak);
  add_if(sandbox_.events, has_events);
  add_if(sandbox_.forks, has_forks);
  return order;
}

void slot::hand_over() {
  far_orders_.reset();
  far_preforked_.reset();
  sandbox_.plan.reset();
  sandbox_.groups.clear();
  sandbox_.peak.reset();
  sandbox_.forks.reset();
}

void slot::listen(heard on_packet, lost on_end) {
  on_packet_ = std::move(on_packet);
  on_end_ = std::move(on_end);
  wait();
}

void slot::wait() {
  orders_.async_wait(
    boost::asio::posix::descriptor_base::wait_read,
    [self = shared_from_this()](const boost::system::error_code& bad) {
      if (bad || !self->orders_.is_open())
        return;
      packet in;
      descriptors with;
      // One at a time: mostly there is no other, and the wait says if there is.
      const auto got = receive(self->orders_.native_handle(), in, with, false);
      if (got == received::closed)
        return self->on_end_(*self);
      with.close_all(); // it has nothing to give
      if (got != received::nothing)
        self->on_packet_(*self, in);
      if (self->orders_.is_open())
        self->wait();
    });
}

void slot::set_ready(int listener) {
  said_ready_ = true;
  listener_ = listener;
}

result<void> slot::connect() {
  if (!sandbox_.network)
    return {};
  unique_fd listener{
    static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), listener_, 0))};
  if (!listener)
    return unavailable(std::string{"fetch the listener of a slot: "}
                       + std::strerror(errno));
  process_.reset();
  const auto& network = *sandbox_.network;
  auto opened = network::broker::open(orders_.get_executor(),
                                      {std::move(listener), network.policy,
                                       network.options, network.organization,
                                       network.host});
  if (!opened)
    return opened.error();
  broker_ = std::move(*opened);
  packet order;
  order.what = word::taken;
  if (!send(orders_.native_handle(), order))
    return unavailable("the slot died");
  return {};
}

bool slot::is_single_use() const {
  return sandbox_.report.level == isolation_level::strict
    && !sandbox_.namespaces_per_run;
}

network::broker::report slot::end_network() {
  return broker_ ? broker_->end_run() : network::broker::report{};
}

bool slot::run(std::uint64_t cpu_seconds, std::uint32_t flags, int out, int err,
               int channel) {
  if (broker_)
    broker_->reset(sandbox_.network->policy);
  packet order;
  order.what = word::run;
  order.cpu_seconds = cpu_seconds;
  order.flags = flags;
  const int with[] = {out, err, channel};
  const int to
    = now == state::preforked ? preforked_.get() : orders_.native_handle();
  return send(to, order, with, 3);
}

bool slot::prefork() {
  packet order;
  order.what = word::prefork;
  return send(orders_.native_handle(), order);
}

bool slot::warm() {
  packet order;
  order.what = word::warm;
  return send(preforked_.get(), order);
}

bool slot::has_unread_run() const {
  int bytes = 0;
  return !preforked_ || ::ioctl(preforked_.get(), SIOCOUTQ, &bytes) != 0
    || bytes != 0;
}

bool slot::ran_out_of_memory() {
  const auto before
    = std::exchange(memory_kills_, memory_kills(sandbox_.events));
  return memory_kills_ != before;
}

void slot::kill() {
  packet order;
  order.what = word::kill;
  if (orders_.is_open())
    send(orders_.native_handle(), order);
}

void slot::close() {
  boost::system::error_code ignored;
  orders_.close(ignored);
  preforked_.reset();
  broker_.reset();
  on_packet_ = nullptr;
  on_end_ = nullptr;
}

} // namespace troupe::zygote
