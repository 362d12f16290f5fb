#pragma once

#include "runtime/base/unique_fd.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// Two connected SOCK_SEQPACKET ends, close-on-exec, non-blocking; empty with
/// errno set when the process has no descriptors left.
std::pair<unique_fd, unique_fd> make_packet_pair();

enum class packet_status {
  done,
  later,  // would block
  closed, // the other side is gone
  broken, // something that is not a packet of ours: cut, or a kernel error
};

/// Sends one packet whole, with descriptors beside it. Never raises SIGPIPE.
packet_status send_packet(int socket, std::string_view bytes,
                          std::span<const int> descriptors = {});

struct packet {
  std::string bytes;
  std::vector<unique_fd> descriptors; // close-on-exec
};

/// Receives one packet of at most `limit` bytes and `max_descriptors`.
packet_status receive_packet(int socket, std::size_t limit, int max_descriptors,
                             packet& out);

} // namespace troupe
