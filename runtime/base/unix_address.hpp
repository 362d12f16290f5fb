#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

namespace troupe {

/// The address of a Unix socket. One has room for 107 bytes; a longer path
/// leads through its directory, which is open for as long as this lives.
class unix_address {
public:
  static result<unix_address> of(const std::filesystem::path& socket);

  const sockaddr* data() const {
    return reinterpret_cast<const sockaddr*>(&at_);
  }
  socklen_t size() const { return sizeof at_; }
  const char* path() const { return at_.sun_path; }

private:
  sockaddr_un at_{};
  unique_fd directory_;
};

/// A connection to the socket, without waiting: -1 with errno. ECONNREFUSED: it
/// is left over from a process that has ended.
int connect_to(const unix_address& socket);

} // namespace troupe
