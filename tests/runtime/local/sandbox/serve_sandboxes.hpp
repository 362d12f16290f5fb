#pragma once

#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <atomic>
#include <memory>

namespace troupe::test {

/// Makes sandboxes, executes in them, writes and reads files and destroys them,
/// whatever becomes of each, until it is over.
struct busy_sandboxes {
  explicit busy_sandboxes(boost::asio::any_io_executor strand,
                          std::shared_ptr<local_sandboxes> all, int users);

  std::atomic<bool> over{false};
  std::atomic<int> made{0};
  std::atomic<int> users;
};

/// The life of an engine that another test kills: prints its instance's
/// directory, then is busy with sandboxes without end.
int serve_sandboxes(const char* state_dir);

} // namespace troupe::test
