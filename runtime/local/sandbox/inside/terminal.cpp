#include "runtime/local/sandbox/inside/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>

namespace troupe::inside {

terminal_ends make_terminal(int directory, terminal_size size) noexcept {
  // By the directory: the path may lead elsewhere by now.
  unique_fd ours{
    ::openat(directory, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)};
  int locked = 0;
  if (!ours || ::ioctl(ours.get(), TIOCSPTLCK, &locked) != 0)
    return {};
  unique_fd its{
    ::ioctl(ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  winsize shown{};
  shown.ws_col = size.columns;
  shown.ws_row = size.rows;
  if (!its || ::ioctl(its.get(), TIOCSWINSZ, &shown) != 0)
    return {};
  return {std::move(ours), std::move(its)};
}

} // namespace troupe::inside
