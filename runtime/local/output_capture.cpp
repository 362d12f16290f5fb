#include "runtime/local/output_capture.hpp"

#include "runtime/base/secret.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace troupe {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// As much as a pipe holds by default.
constexpr std::size_t piece = 64u << 10;

/// How long the rest of a line is waited for: nobody sees that.
constexpr std::chrono::milliseconds longest_hold{10};

/// How many pieces are taken before others get their turn.
constexpr int pieces_at_once = 8;

} // namespace

output_capture::output_capture(asio::any_io_executor strand, int fd,
                               std::size_t limit)
    : fd_{fd}, source_{std::move(strand)}, limit_{limit} {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

int output_capture::fd() {
  return fd_ ? fd_.get() : source_.native_handle();
}

void output_capture::start(std::function<void(std::string_view)> kept,
                           std::function<void()> over) {
  on_kept_ = std::move(kept);
  on_over_ = std::move(over);
}

bool output_capture::watch(std::shared_ptr<void> owner) {
  if (!fd_)
    return true; // it is watched already, or has ended
  boost::system::error_code failed;
  source_.assign(fd_.get(), failed);
  if (failed)
    return false;
  (void)fd_.release();
  owner_ = std::move(owner);
  wait();
  return true;
}

bool output_capture::read_once() {
  static thread_local std::array<char, piece> buffer;
  auto n = ::read(fd(), buffer.data(), buffer.size());
  if (n <= 0) {
    ended_ = n == 0 || (errno != EAGAIN && errno != EINTR);
    return false;
  }
  auto size = static_cast<std::size_t>(n);
  auto room = limit_ - std::min<std::size_t>(limit_, kept_bytes_);
  auto take = std::min(size, room);
  bytes_ += size;
  kept_bytes_ += take;
  if (take > 0) {
    kept_.append(buffer.data(), take);
    if (on_kept_)
      tell({buffer.data(), take});
  }
  if (take < size)
    if (auto over = std::exchange(on_over_, nullptr))
      over();
  return true;
}

/// print("tick", 1) is four writes: one line for its readers, and one event.
void output_capture::tell(std::string_view text) {
  if (held_.empty() && (text.ends_with('\n') || !owner_))
    return on_kept_(text);
  held_ += text;
  if (text.ends_with('\n') || held_.size() >= piece || !owner_)
    return tell_held();
  if (hold_)
    return; // it is on its way
  hold_.emplace(source_.get_executor(), longest_hold);
  hold_->async_wait([this, owner = owner_](boost::system::error_code) {
    hold_.reset();
    tell_held();
  });
}

void output_capture::tell_held() {
  auto text = std::exchange(held_, {});
  if (on_kept_ && !text.empty())
    on_kept_(text);
}

void output_capture::wait() {
  source_.async_wait(stream_descriptor::wait_read,
                     [this, owner = owner_](boost::system::error_code code) {
                       if (code || !source_.is_open())
                         return;
                       for (int i = 0; i < pieces_at_once && read_once(); ++i)
                         ;
                       if (!ended_ && source_.is_open())
                         wait();
                     });
}

void output_capture::finish() {
  // A pipe holds a mebibyte at most, and nobody refills it.
  constexpr int enough = 64;
  for (int i = 0; i < enough && is_open() && read_once(); ++i)
    ;
  tell_held();
  hold_.reset();
  fd_.reset();
  boost::system::error_code ignored;
  source_.close(ignored);
  on_kept_ = nullptr;
  on_over_ = nullptr;
  owner_.reset();
}

input_feed::input_feed(asio::any_io_executor strand)
    : target_{std::move(strand)} {}

input_feed::~input_feed() {
  wipe(text_.data(), text_.size());
}

void input_feed::start(std::shared_ptr<void> owner, int fd, std::string text) {
  text_ = std::move(text);
  if (write(fd))
    return finish();
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    ::shutdown(fd, SHUT_WR); // who reads half of it shall not wait for more
    return finish();
  }
  owner_ = std::move(owner);
  target_.assign(copy);
  write_later();
}

bool input_feed::write(int fd) {
  while (written_ < text_.size()) {
    auto n = ::send(fd, text_.data() + written_, text_.size() - written_,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      written_ += static_cast<std::size_t>(n);
    else if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
      return false;
    else
      break; // it does not want to read: its business
  }
  return true;
}

void input_feed::write_later() {
  target_.async_wait(stream_descriptor::wait_write,
                     [this, owner = owner_](boost::system::error_code code) {
                       if (code || !target_.is_open())
                         return;
                       if (write(target_.native_handle()))
                         finish();
                       else
                         write_later();
                     });
}

void input_feed::finish() {
  wipe(text_.data(), text_.size());
  text_.clear();
  owner_.reset();
}

void input_feed::stop() {
  boost::system::error_code ignored;
  if (target_.is_open())
    target_.close(ignored);
  owner_.reset();
}

} // namespace troupe
