#pragma once

#include "runtime/async/io_thread.hpp"
#include "runtime/local/local_backend.hpp"

#include <memory>

namespace troupe {

/// The local backend for a command that needs no server: one thread of its
/// own, the warden, and nothing else.
class standalone_local {
public:
  static result<std::unique_ptr<standalone_local>> open(local_options options);
  ~standalone_local();

  local_backend& backend() { return *backend_; }
  std::shared_ptr<local_backend> shared_backend() { return backend_; }
  boost::asio::any_io_executor executor() { return io_.executor(); }
  /// Waits until the host has been probed, or cannot be.
  result<void> wait_until_probed();

private:
  standalone_local() = default;

  io_thread io_;
  std::shared_ptr<local_backend> backend_;
};

} // namespace troupe
