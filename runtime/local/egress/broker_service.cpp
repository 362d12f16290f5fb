#include "runtime/local/egress/broker_service.hpp"

#include "runtime/base/packet_socket.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace troupe::network {

namespace asio = boost::asio;

namespace {

/// Orders are looked at again after so many calls, and after so long a rest.
constexpr int calls_per_turn = 32;
constexpr std::chrono::milliseconds longest_rest{100};

std::chrono::nanoseconds processor_time() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

void rest(std::chrono::nanoseconds time) {
  const auto ns = std::min<std::chrono::nanoseconds>(time, longest_rest);
  const timespec t{0, static_cast<long>(ns.count())};
  ::nanosleep(&t, nullptr);
}

} // namespace

broker_service::broker_service(broker_descriptors with)
    : control_{io_, with.control.release()}, page_{shared<broker_page>::map(
                                               std::move(with.page))},
      account_{shared<account>::map(std::move(with.account))} {
  listeners_.emplace_back(io_, with.listener.release());
}

bool broker_service::open() {
  if (!page_ || !account_)
    return false;
  obey_all();
  if (!quota_ || run_ == 0)
    return false;
  await_orders();
  await_call(listeners_.begin());
  return true;
}

void broker_service::run() {
  auto before = processor_time();
  while (io_.run_one() != 0) {
    const auto now = processor_time();
    auto wait = quota_->charge(now - before, quota::clock::now());
    before = now;
    while (wait.count() > 0 && !io_.stopped()) {
      rest(wait);
      obey_all(); // the engine need not wait for a tool that did too much
      wait = quota_->charge({}, quota::clock::now());
    }
  }
}

// -- orders ------------------------------------------------------------------

void broker_service::await_orders() {
  control_.async_wait(asio::posix::descriptor_base::wait_read,
                      [this](boost::system::error_code bad) {
                        obey_all();
                        if (!bad && control_.is_open())
                          await_orders();
                      });
}

void broker_service::obey_all() {
  for (;;) {
    packet from_engine;
    switch (
      receive_packet(control_.native_handle(), longest_order, 1, from_engine)) {
    case packet_status::later:
      return;
    case packet_status::done:
      if (broker_order order; decode(from_engine.bytes, order)) {
        obey(order, from_engine.descriptors);
        break;
      }
      [[fallthrough]];
    case packet_status::broken:
    case packet_status::closed:
      io_.stop();
      return;
    }
  }
}

void broker_service::obey(broker_order& order, std::vector<unique_fd>& given) {
  switch (order.what) {
  case broker_order::word::open:
    options_ = std::move(order.options);
    quota_.emplace(page_, account_, options_);
    return;
  case broker_order::word::serve:
    run_ = order.run;
    policy_ = std::move(order.policy);
    if (calls_)
      calls_->serve(policy_);
    return;
  case broker_order::word::listen:
    if (!given.empty())
      listen(std::move(given.front()));
    return;
  case broker_order::word::change:
    run_ = order.run;
    policy_ = std::move(order.policy);
    if (calls_)
      calls_->change(policy_);
    return;
  case broker_order::word::end:
    if (calls_)
      calls_->end();
    (*page_)->ended.store(order.run, std::memory_order_release);
    return;
  }
}

// -- calls -------------------------------------------------------------------

void broker_service::listen(unique_fd to) {
  await_call(listeners_.emplace(listeners_.end(), io_, to.release()));
}

void broker_service::await_call(listener from) {
  from->async_wait(asio::posix::descriptor_base::wait_read,
                   [this, from](boost::system::error_code bad) {
                     bool open = !bad;
                     for (int i = 0; open && i < calls_per_turn; ++i) {
                       pollfd p{from->native_handle(), POLLIN, 0};
                       if (::poll(&p, 1, 0) <= 0)
                         break;
                       // Only POLLIN promises that RECV does not wait.
                       open = (p.revents & POLLIN) != 0
                         && take_call(from->native_handle());
                     }
                     if (open)
                       await_call(from);
                     else
                       end_calls(from);
                   });
}

/// Nobody is left behind that filter. The record is still to be read: that
/// there is no need for a broker any more, the engine says.
void broker_service::end_calls(listener of) {
  if (calls_)
    calls_->let_go_of_dead(); // nothing will answer them by this number
  listeners_.erase(of);
}

bool broker_service::take_call(int listener) {
  seccomp_notif n;
  std::memset(&n, 0, sizeof n); // the kernel insists
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) != 0)
    return true; // the caller died meanwhile
  // The orders for a run go out before the run does, so they are here.
  if ((*page_)->serves.load(std::memory_order_acquire) != run_)
    obey_all();
  if (io_.stopped())
    return false;
  notified_syscall call{listener, n};
  begin_record();
  if (get_ready())
    calls_->handle(std::move(call));
  else
    call.fail(EACCES);
  return true;
}

bool broker_service::get_ready() {
  if (calls_)
    return true;
  auto made
    = syscall_handler::open(io_.get_executor(), options_, *quota_,
                            [this](const broker::report& one) { record(one); });
  if (!made)
    return false; // no descriptors left, say; the next call tries again
  calls_ = std::move(*made);
  calls_->serve(policy_);
  return true;
}

// -- the record --------------------------------------------------------------

void broker_service::begin_record() {
  if (recorded_ == run_)
    return;
  recorded_ = run_;
  auto& page = **page_;
  page.record_size.store(0, std::memory_order_relaxed);
  page.dropped.store(0, std::memory_order_relaxed);
  page.used.store(run_, std::memory_order_release);
}

/// Whole before the size says so, and before the tool has its answer: who sees
/// the end of the run sees all of it.
void broker_service::record(const broker::report& one) {
  std::string lines;
  for (const auto& event : one.events)
    append_decision(lines, event, false);
  if (one.denied)
    append_decision(lines, *one.denied, true);
  auto& page = **page_;
  const auto size = page.record_size.load(std::memory_order_relaxed);
  if (size + lines.size() > sizeof page.record) {
    page.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(page.record + size, lines.data(), lines.size());
  page.dropped.fetch_add(static_cast<std::uint32_t>(one.dropped),
                         std::memory_order_relaxed);
  page.record_size.store(size + static_cast<std::uint32_t>(lines.size()),
                         std::memory_order_release);
}

} // namespace troupe::network
