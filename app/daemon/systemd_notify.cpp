#include "app/daemon/systemd_notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace troupe {

namespace {

std::string take(const char* name) {
  auto* value = std::getenv(name);
  std::string out = value ? value : "";
  ::unsetenv(name);
  return out;
}

/// What systemd compares a reload's beginning with.
std::string monotonic_microseconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::to_string(t.tv_sec * 1'000'000 + t.tv_nsec / 1'000);
}

} // namespace

systemd_notify systemd_notify::from_environment() {
  systemd_notify out;
  out.socket_ = take("NOTIFY_SOCKET");
  auto wanted = take("WATCHDOG_USEC");
  auto whose = take("WATCHDOG_PID");
  if (!whose.empty() && whose != std::to_string(::getpid()))
    return out; // meant for another process
  std::uint64_t usec = 0;
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), usec);
  out.watchdog_ = std::chrono::microseconds{usec};
  return out;
}

void systemd_notify::tell(std::string_view words) const {
  sockaddr_un to{};
  if (socket_.empty() || socket_.size() >= sizeof to.sun_path
      || (socket_[0] != '/' && socket_[0] != '@'))
    return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') // an abstract name
    to.sun_path[0] = '\0';
  auto size
    = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  // Lost words are the manager's to miss: it has its own deadlines.
  ::sendto(fd, words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&to), size);
  ::close(fd);
}

void systemd_notify::ready(std::string_view status) const {
  tell("READY=1\nMAINPID=" + std::to_string(::getpid())
       + "\nSTATUS=" + std::string{status} + "\n");
}

void systemd_notify::reloading() const {
  tell("RELOADING=1\nMONOTONIC_USEC=" + monotonic_microseconds() + "\n");
}

void systemd_notify::stopping() const {
  tell("STOPPING=1\nSTATUS=finishing runs in progress\n");
}

void systemd_notify::alive() const {
  tell("WATCHDOG=1\n");
}

} // namespace troupe
