#include "runtime/local/egress/broker.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/egress/broker_orders.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <poll.h>

#include <algorithm>
#include <list>
#include <span>
#include <utility>

namespace troupe::network {

namespace asio = boost::asio;

namespace {

/// How long a broker may take to let go of what waits for a run that is over.
/// It has nothing to wait for: one that takes longer was made to wait.
constexpr std::chrono::seconds time_to_end{1};

/// A process, and what the engine shares with it.
struct serving {
  std::uint64_t number = 0;
  asio::posix::stream_descriptor control;
  std::shared_ptr<shared<broker_page>> page;
  std::shared_ptr<shared<account>> organization;
};

/// What outlives the owner's handle while operations are in flight.
class session : public std::enable_shared_from_this<session> {
public:
  session(asio::any_io_executor executor, broker::request about)
      : executor_{executor}, about_{std::move(about)}, deadline_{executor} {}

  /// Until somebody calls: most tools never do.
  void await_first_call(unique_fd listener) {
    auto node
      = listeners_.emplace(listeners_.end(), executor_, listener.release());
    node->async_wait(
      asio::posix::stream_descriptor::wait_read,
      [self = shared_from_this(), node](boost::system::error_code bad) {
        if (bad || self->closed_)
          return; // it is gone
        unique_fd called{node->release()};
        self->listeners_.erase(node);
        self->on_first_call(std::move(called));
      });
  }

  void begin() { await_first_call(std::move(about_.listener)); }

  void reset(network_policy policy) {
    const bool same = policy == about_.policy;
    about_.policy = std::move(policy);
    if (!process_ || (same && !was_used()))
      return;
    ++run_;
    if (tell_to_serve())
      (*process_->page)->serves.store(run_, std::memory_order_release);
  }

  /// By a number of its own, so that no call that comes from now on is decided
  /// before the broker has read this.
  void change(network_policy policy) {
    about_.policy = std::move(policy);
    if (!process_)
      return;
    ++run_;
    if (tell({broker_order::word::change, {}, run_, about_.policy}))
      (*process_->page)->serves.store(run_, std::memory_order_release);
  }

  broker::report end_run() {
    broker::report report;
    if (process_ && was_used())
      report = read_report();
    report.lost = lost_;
    if (process_ && was_used() && tell({broker_order::word::end, {}, run_, {}}))
      await_end();
    return report;
  }

  /// What died a moment ago may not have been told yet.
  bool is_well() { return !lost_ && (!process_ || !has_hung_up()); }

  /// A broker has no state that anybody needs: it is not asked to end.
  void close() {
    closed_ = true;
    listeners_.clear();
    deadline_.cancel();
    drop_process();
  }

private:
  bool was_used() const {
    return (*process_->page)->used.load(std::memory_order_acquire) == run_;
  }

  bool has_hung_up() {
    pollfd look{process_->control.native_handle(), 0, 0};
    return ::poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0;
  }

  /// The broker's from now on, alone: when that is gone, the kernel answers.
  void on_first_call(unique_fd listener) {
    pollfd p{listener.get(), POLLIN, 0};
    if (::poll(&p, 1, 0) != 1 || (p.revents & POLLIN) == 0)
      return; // nobody is left that could call
    if (!process_)
      return start(std::move(listener));
    const int fd = listener.get();
    if (send_packet(process_->control.native_handle(),
                    encode({broker_order::word::listen, {}, run_, {}}),
                    std::span<const int>{&fd, 1})
        != packet_status::done)
      lose();
  }

  void start(unique_fd listener) {
    auto host = about_.host.lock();
    auto [mine, its] = make_packet_pair();
    auto page = shared<broker_page>::make("troupe-broker");
    if (!host || !mine || !page)
      return lose();
    auto organization = host->account_of(about_.organization);
    if (!organization)
      return lose();
    process_.emplace(
      serving{0, {executor_, mine.release()}, std::move(*page), *organization});
    ++run_;
    (*process_->page)->serves = run_;
    if (!tell({broker_order::word::open, about_.options, 0, {}})
        || !tell_to_serve())
      return;
    const auto copy = [](int fd) { return unique_fd{::dup(fd)}; };
    broker_descriptors with{std::move(its), copy(process_->page->file().get()),
                            copy((*organization)->file().get()),
                            std::move(listener)};
    if (with.page && with.account)
      process_->number = host->start_broker(std::move(with));
    if (process_->number == 0)
      return lose();
    process_->page->close_file();
    await_loss();
  }

  /// It never speaks: whatever there is to read is the end of it.
  void await_loss() {
    process_->control.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [self = shared_from_this()](boost::system::error_code bad) {
        if (!bad)
          self->lose();
      });
  }

  bool tell_to_serve() {
    return tell({broker_order::word::serve, {}, run_, about_.policy});
  }

  /// False: it is gone, or so far behind that it must have been made to wait.
  bool tell(const broker_order& order) {
    if (send_packet(process_->control.native_handle(), encode(order))
        == packet_status::done)
      return true;
    lose();
    return false;
  }

  void await_end() {
    deadline_.expires_after(time_to_end);
    deadline_.async_wait(
      [self = shared_from_this(), run = run_](boost::system::error_code bad) {
        if (!bad && self->process_
            && (*self->process_->page)->ended.load(std::memory_order_acquire)
              < run)
          self->lose();
      });
  }

  broker::report read_report() const {
    const auto& page = **process_->page;
    const auto size = std::min<std::size_t>(
      page.record_size.load(std::memory_order_acquire), sizeof page.record);
    // A copy: what it is parsed from must not change under the parser.
    const std::string record{page.record, size};
    auto report = read_record(record);
    report.dropped = page.dropped.load(std::memory_order_relaxed);
    return report;
  }

  void lose() {
    lost_ = true;
    drop_process();
  }

  void drop_process() {
    auto gone = std::exchange(process_, std::nullopt);
    if (!gone)
      return;
    if (auto host = about_.host.lock(); host && gone->number != 0)
      host->kill_broker(gone->number);
    give_back(*gone);
  }

  /// What it still held of its organization's. Its own numbers, so no more
  /// than it could have had.
  void give_back(const serving& gone) const {
    const auto& most = about_.options.of_a_run;
    auto& page = **gone.page;
    auto& account = **gone.organization;
    const auto within = [](std::int64_t n, std::uint64_t limit) {
      return std::clamp<std::int64_t>(n, 0, static_cast<std::int64_t>(limit));
    };
    account.waiting_calls -= within(page.waiting_calls, most.waiting_calls);
    account.held_bytes -= within(page.held_bytes, most.held_bytes);
  }

  asio::any_io_executor executor_;
  broker::request about_;
  std::list<asio::posix::stream_descriptor> listeners_; // nobody called yet
  asio::steady_timer deadline_;                         // of the end of a run
  std::optional<serving> process_;
  std::uint32_t run_ = 0;
  bool lost_ = false;
  bool closed_ = false;
};

class handle final : public broker {
public:
  explicit handle(std::shared_ptr<session> s) : session_{std::move(s)} {}
  ~handle() override { session_->close(); }

  void reset(network_policy policy) override {
    session_->reset(std::move(policy));
  }
  void add(unique_fd listener) override {
    session_->await_first_call(std::move(listener));
  }
  void change(network_policy policy) override {
    session_->change(std::move(policy));
  }
  report end_run() override { return session_->end_run(); }
  bool is_well() const override { return session_->is_well(); }
  void close() override { session_->close(); }

private:
  std::shared_ptr<session> session_;
};

} // namespace

result<std::shared_ptr<broker>> broker::open(asio::any_io_executor executor,
                                             request about) {
  if (!about.listener)
    return error{ec::internal, "no listener for the network broker", {}, {}};
  auto s = std::make_shared<session>(std::move(executor), std::move(about));
  s->begin();
  return std::shared_ptr<broker>{std::make_shared<handle>(std::move(s))};
}

} // namespace troupe::network
