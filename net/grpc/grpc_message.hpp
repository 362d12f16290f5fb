#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

/// gRPC's own numbers.
enum class grpc_code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// The server says so: nothing was begun.
bool is_refusal(grpc_code code);

struct grpc_status {
  grpc_code code = grpc_code::ok;
  std::string message;
  /// The server asks us to come back after so many seconds.
  std::optional<float> retry_after;

  bool ok() const { return code == grpc_code::ok; }
  error as_error(std::string_view doing) const;
};

/// From the reply's headers and trailers and the way the stream ended.
grpc_status read_grpc_status(const std::map<std::string, std::string>& head,
                             std::uint32_t reset_code);

/// Five bytes of head and the message.
std::string grpc_frame(std::string_view message);

/// Takes messages out of DATA as it comes, however it was cut.
class grpc_reader {
public:
  explicit grpc_reader(std::size_t max_message_bytes)
      : limit_{max_message_bytes} {}

  result<void> feed(std::string_view bytes,
                    const std::function<void(std::string_view)>& message);
  /// Nothing of a further message has been read.
  bool at_border() const { return buffer_.empty(); }

private:
  std::size_t limit_;
  std::string buffer_;
};

/// "5S", "100m": the largest unit that is exact within eight digits.
std::string grpc_timeout(std::uint64_t milliseconds);

} // namespace troupe::net
