#include "runtime/local/sandbox/living_kernel.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace troupe {

namespace asio = boost::asio;

namespace {

constexpr std::size_t channel_bytes = 64u << 10; // of one read
constexpr std::size_t max_first_words = 4u << 10;
/// Frames that are still in the channel of one that has ended.
constexpr int max_last_hearings = 1'024;

/// Within the patience that callers have with an interrupt.
constexpr int stop_requests = 9;
constexpr std::chrono::milliseconds between_stop_requests{200};

/// For one that has closed its channel to say how it ended.
constexpr std::chrono::seconds time_to_end{1};

} // namespace

living_kernel::living_kernel(asio::any_io_executor executor,
                             kernel_events events, std::function<void()> ready)
    : channel_{executor}, ask_again_{executor}, end_by_{std::move(executor)},
      events_{std::move(events)}, ready_{std::move(ready)} {}

result<std::shared_ptr<living_kernel>>
living_kernel::make(asio::any_io_executor executor, kernel_events events,
                    std::function<void()> ready, unique_fd& its_channel) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ec::exhausted, "no descriptors are left for another context");
  std::shared_ptr<living_kernel> made{new living_kernel{
    std::move(executor), std::move(events), std::move(ready)}};
  made->channel_.assign(ends[0]);
  its_channel.reset(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  made->hear_later();
  return made;
}

process_events living_kernel::for_process() {
  process_events e;
  auto self = shared_from_this();
  e.output = [self](output_stream which, std::string_view bytes) {
    if (!self->is_ready_)
      self->first_words_.append(
        bytes.substr(0, max_first_words - self->first_words_.size()));
    else if (self->events_.output)
      self->events_.output(which, bytes);
  };
  e.ended = [self](result<process_end> how) { self->finish(std::move(how)); };
  return e;
}

void living_kernel::attach(std::shared_ptr<living_process> process) {
  process_ = std::move(process);
  if (over_)
    process_.reset();
  else if (is_given_up_)
    kill();
}

void living_kernel::abandon() {
  events_ = {};
  ready_ = nullptr;
  give_up();
}

std::int32_t living_kernel::pid() const {
  return process_ ? process_->pid() : 0;
}

// -- what it says -------------------------------------------------------------

void living_kernel::hear_later() {
  channel_.async_wait(
    stream::wait_read,
    [self = shared_from_this()](boost::system::error_code code) {
      if (!code && self->hear())
        self->hear_later();
    });
}

bool living_kernel::hear() {
  if (!channel_.is_open())
    return false;
  char some[channel_bytes];
  const auto size = ::read(channel_.native_handle(), some, sizeof some);
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (size <= 0) {
    expect_end();
    return false;
  }
  // What it printed before it said that.
  if (process_)
    process_->read_available();
  frames_.append({some, static_cast<std::size_t>(size)});
  for (kernels::frame next;;) {
    const auto status = frames_.next(next);
    if (status == kernels::frame_reader::status::partial)
      return channel_.is_open();
    if (status == kernels::frame_reader::status::broken || !obey(next)) {
      give_up("the interpreter wrote something else to its channel than what "
              "becomes of cells");
      return false;
    }
  }
}

bool living_kernel::obey(kernels::frame& from) {
  if (obey_about_image(from))
    return true;
  if (from.word == "ready" && !is_ready_) {
    is_ready_ = true;
    read_lost(from);
    if (auto ready = std::exchange(ready_, nullptr))
      ready();
    return true;
  }
  if (from.word == "end") {
    kernels::cell_end end;
    if (!std::exchange(is_busy_, false) || !kernels::read_end(from, end))
      return false;
    if (events_.done)
      events_.done({end.status, end.count});
    return true;
  }
  cell_event event;
  if (!is_ready_ || !kernels::read_event(from, event))
    return false;
  if (events_.told)
    events_.told(std::move(event));
  return true;
}

void living_kernel::expect_end() {
  boost::system::error_code ignored;
  channel_.close(ignored);
  end_by_.expires_after(time_to_end);
  end_by_.async_wait([weak = weak_from_this()](boost::system::error_code code) {
    if (auto self = weak.lock(); self && !code && !self->over_)
      self->give_up();
  });
}

void living_kernel::give_up(const char* why) {
  boost::system::error_code ignored;
  channel_.close(ignored);
  if (!std::exchange(is_given_up_, true))
    why_ = why;
  kill();
}

void living_kernel::finish(result<process_end> how) {
  auto self = shared_from_this();
  char next = 0;
  for (int i = 0; i < max_last_hearings && channel_.is_open()
       && ::recv(channel_.native_handle(), &next, 1, MSG_PEEK) > 0 && hear();
       ++i)
    ;
  over_ = true;
  boost::system::error_code ignored;
  channel_.close(ignored);
  if (auto told = std::exchange(save_answers_, nullptr))
    told({});
  unwritten_.clear();
  process_.reset();
  ready_ = nullptr;
  if (how && how->detail.empty() && how->signaled)
    how->detail = why_;
  auto events = std::exchange(events_, {});
  if (events.ended)
    events.ended(std::move(how));
}

// -- what it is told ----------------------------------------------------------

result<void> living_kernel::run(const std::string& code) {
  if (over_ || !channel_.is_open())
    return fail(ec::unavailable, "the interpreter has ended");
  if (save_answers_ || std::exchange(is_busy_, true))
    return fail(ec::conflict, "the interpreter runs a cell already");
  ++cell_;
  unwritten_ += encode(kernels::frame{"run", {{"code", code}}});
  write_later();
  return {};
}

void living_kernel::write_later() {
  if (is_writing_ || !channel_.is_open())
    return;
  while (!unwritten_.empty()) {
    const auto n = ::send(channel_.native_handle(), unwritten_.data(),
                          unwritten_.size(), MSG_NOSIGNAL);
    if (n > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN)
      return; // the reading side hears of it, too
    is_writing_ = true;
    channel_.async_wait(
      stream::wait_write,
      [self = shared_from_this()](boost::system::error_code code) {
        self->is_writing_ = false;
        if (!code)
          self->write_later();
      });
    return;
  }
}

/// By both ways: Node cannot hear a signal while it is busy, the programs that
/// a cell waits for hear nothing else, and the rest ignores what it knows
/// already.
void living_kernel::interrupt() {
  if (!process_ || !is_busy_)
    return;
  unwritten_ += encode(kernels::frame{"interrupt", {}});
  write_later();
  ask_to_stop(cell_, stop_requests);
}

/// More than once: a program that the cell was about to begin is not there when
/// the first signal comes, and then waited for.
void living_kernel::ask_to_stop(std::uint64_t cell, int times) {
  if (!process_ || !is_busy_ || cell != cell_ || times == 0)
    return;
  (void)process_->signal(SIGINT);
  ask_again_.expires_after(between_stop_requests);
  ask_again_.async_wait(
    [weak = weak_from_this(), cell, times](boost::system::error_code code) {
      auto self = weak.lock();
      if (self && !code)
        self->ask_to_stop(cell, times - 1);
    });
}

void living_kernel::kill() {
  if (process_)
    (void)process_->signal(SIGKILL);
}

} // namespace troupe
