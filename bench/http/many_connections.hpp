#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace troupe::bench {

/// Connections to a server of this process, each with one answered `GET
/// /livez`, kept open by a process of its own: a process may have only so many
/// descriptors.
class http_crowd {
public:
  http_crowd(std::uint16_t port, std::size_t connections);
  ~http_crowd();
  http_crowd(const http_crowd&) = delete;
  http_crowd& operator=(const http_crowd&) = delete;

  /// How many of them had their answer.
  std::size_t answered() const { return answered_; }

private:
  pid_t pid_ = -1;
  int hold_ = -1; // they leave when it is closed
  std::size_t answered_ = 0;
};

/// What that process does: `troupe_bench __crowd PORT CONNECTIONS` prints how
/// many were answered, and leaves at the end of its input.
inline constexpr const char* crowd_command = "__crowd";
int be_crowd(std::uint16_t port, std::size_t connections);

} // namespace troupe::bench
