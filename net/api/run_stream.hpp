#pragma once

#include "net/api/run_text.hpp"
#include "net/server/exchange.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::net {

/// Which stream an Accept field asks for.
std::optional<stream_format> wanted_stream(const request& in);

/// One run's events on their way to one client. The status is decided by what
/// comes first: an event opens the stream, an error is an ordinary answer.
class run_stream {
public:
  run_stream(exchange_ptr ex, stream_format format, std::string run)
      : ex_{std::move(ex)}, lines_{format}, format_{format}, run_{std::move(
                                                               run)} {}

  bool event(const run_event& e);
  /// What `engine::submit` ends with: the end, where no event told it.
  void finished(result<std::shared_ptr<const run_result>> done);
  /// What `engine::subscribe` says.
  void accepted(result<void> answer);

private:
  void open();

  std::mutex mutex_;
  exchange_ptr ex_;
  event_lines lines_;
  stream_format format_;
  std::string run_;
  bool opened_ = false;
};

} // namespace troupe::net
