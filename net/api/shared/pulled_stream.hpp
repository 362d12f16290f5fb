#pragma once

#include "net/api/shared/pulled_bytes.hpp"
#include "net/api/shared/run_json.hpp"

#include <string>
#include <string_view>

namespace troupe::net {

/// A stream of entries, as SSE or NDJSON.
class pulled_stream : public pulled_bytes {
protected:
  pulled_stream(exchange_ptr ex, stream_format format)
      : pulled_bytes{std::move(ex)}, format_{format} {}

  void write(std::string_view event, std::string data, std::uint64_t id = 0);
  /// The last entry.
  void end(std::string_view event, std::string data);
  /// Ends with why it cannot go on.
  void give_up(const error& why);

private:
  void open(exchange& ex) override;

  const stream_format format_;
};

} // namespace troupe::net
