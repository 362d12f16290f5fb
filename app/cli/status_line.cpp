#include "app/cli/status_line.hpp"

#include "app/cli/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

namespace troupe {

namespace {

// As often as an eye can follow.
constexpr std::chrono::milliseconds shortest_pause{50};
constexpr std::size_t usual_width = 80;
constexpr auto erase_line = "\r\x1b[2K";

std::size_t width_of_terminal() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    return size.ws_col;
  return usual_width;
}

} // namespace

status_line::status_line() : active_{::isatty(STDERR_FILENO) == 1} {}

status_line::~status_line() {
  clear();
}

void status_line::show(std::string_view text) {
  auto now = std::chrono::steady_clock::now();
  if (!active_ || now < next_)
    return;
  next_ = now + shortest_pause;
  shown_ = true;
  // One column stays free for the cursor, one for what was cut.
  std::cerr << erase_line
            << one_line(std::string{text}, width_of_terminal() - 2)
            << std::flush;
}

void status_line::clear() {
  if (!shown_)
    return;
  std::cerr << erase_line << std::flush;
  shown_ = false;
  next_ = {};
}

} // namespace troupe
