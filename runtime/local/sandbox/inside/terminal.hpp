#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/model/terminal_size.hpp"

namespace troupe::inside {

struct terminal_ends {
  unique_fd ours; // what is typed goes in, what is shown comes out
  unique_fd its;  // of the process that will lead it
};

/// A new terminal of the sandbox's own devpts, whose directory is open as
/// `directory`. Both ends empty, with errno set: there is none, or none is
/// left.
terminal_ends make_terminal(int directory, terminal_size size) noexcept;

} // namespace troupe::inside
