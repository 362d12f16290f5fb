#include "app/logging/line_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace troupe {

namespace {

// Long enough for a reader that was descheduled, short enough at shutdown.
constexpr int patience_ms = 200;

int own_description(int fd, const struct stat& about) {
  if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    auto own = ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own >= 0)
      return own;
  }
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

} // namespace

line_writer::line_writer(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0)
    return; // closed by our parent: every line is counted as lost
  is_socket_ = S_ISSOCK(about.st_mode);
  fd_ = own_description(fd, about);
}

line_writer::~line_writer() {
  if (fd_ >= 0)
    ::close(fd_);
}

bool line_writer::drop() noexcept {
  ++lost_;
  return false;
}

long line_writer::attempt(std::string_view bytes) noexcept {
  if (is_socket_)
    return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // A description that could not be opened again may block: ask first, and
  // write no more than what a pipe takes in one piece.
  pollfd room{fd_, POLLOUT, 0};
  if (::poll(&room, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd_, bytes.data(), bytes.size());
}

bool line_writer::wait_for_room() noexcept {
  if (stuck_)
    return false;
  pollfd room{fd_, POLLOUT, 0};
  stuck_ = ::poll(&room, 1, patience_ms) <= 0;
  return !stuck_;
}

bool line_writer::flush_rest() noexcept {
  while (!rest_.empty()) {
    auto n = attempt(rest_);
    if (n > 0)
      rest_.erase(0, static_cast<std::size_t>(n));
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && errno == EAGAIN && wait_for_room())
      continue;
    else
      return false;
  }
  return true;
}

bool line_writer::write(std::string_view line) noexcept {
  if (fd_ < 0 || !flush_rest())
    return drop();
  for (;;) {
    auto n = attempt(line);
    if (n == static_cast<long>(line.size())) {
      stuck_ = false;
      return true;
    }
    if (n >= 0) { // halfway: the rest goes first next time
      try {
        rest_ = line.substr(static_cast<std::size_t>(n));
      } catch (...) {
        return drop();
      }
      return true;
    }
    if (errno == EINTR || (errno == EAGAIN && wait_for_room()))
      continue;
    return drop();
  }
}

} // namespace troupe
