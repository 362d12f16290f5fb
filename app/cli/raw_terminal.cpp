#include "app/cli/raw_terminal.hpp"

#include <sys/ioctl.h>

namespace troupe {

void raw_terminal::enter() {
  termios now{};
  if (::tcgetattr(descriptor_, &now) != 0)
    return;
  if (!before_)
    before_ = now;
  ::cfmakeraw(&now);
  ::tcsetattr(descriptor_, TCSADRAIN, &now);
}

void raw_terminal::leave() {
  if (before_)
    ::tcsetattr(descriptor_, TCSADRAIN, &*before_);
  before_.reset();
}

std::optional<terminal_size> size_of_terminal(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0
      || size.ws_row == 0)
    return std::nullopt;
  return terminal_size{size.ws_col, size.ws_row};
}

} // namespace troupe
