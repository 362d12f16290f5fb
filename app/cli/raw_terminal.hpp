#pragma once

#include "runtime/model/terminal_size.hpp"

#include <termios.h>

#include <optional>

namespace troupe {

/// The terminal that a command was typed in, as one for a program elsewhere:
/// each key at once, and none of them for us. As it was before, when this goes.
class raw_terminal {
public:
  explicit raw_terminal(int descriptor) : descriptor_{descriptor} {}
  ~raw_terminal() { leave(); }
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;

  void enter();
  void leave();

private:
  const int descriptor_;
  std::optional<termios> before_;
};

/// Nothing where it is no terminal, or one that does not know.
std::optional<terminal_size> size_of_terminal(int descriptor);

} // namespace troupe
