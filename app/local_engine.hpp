#pragma once

#include "runtime/local/local_backend.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <thread>

namespace troupe {

/// The local backend for a command that needs no server: one thread of its
/// own, the warden, and nothing else.
class local_engine {
public:
  static result<std::unique_ptr<local_engine>> open(local_options options);
  ~local_engine();

  local_backend& backend() { return *backend_; }
  std::shared_ptr<local_backend> shared_backend() { return backend_; }
  boost::asio::io_context& io() { return io_; }
  /// Waits until the host has been probed, or cannot be.
  result<void> wait_until_probed();

private:
  local_engine() : busy_{io_.get_executor()} {}

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    busy_;
  std::thread thread_;
  std::shared_ptr<local_backend> backend_;
};

} // namespace troupe
