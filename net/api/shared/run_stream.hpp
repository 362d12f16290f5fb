#pragma once

#include "net/api/shared/run_json.hpp"
#include "net/server/exchange.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::net {

/// Which stream an Accept field asks for.
std::optional<stream_format> wanted_stream(const request& in);

/// Sends the head of a stream, with a heartbeat where the format has one.
void open_stream(exchange& ex, stream_format format, response head = {});

/// One run's events on their way to one client. The status is decided by what
/// comes first: an event opens the stream, an error is an ordinary answer.
///
/// A reader that falls behind costs no more than the buffer of its stream: the
/// stream lets go of the run, and asks for the rest when the reader has caught
/// up. What the run no longer keeps by then is told as a gap.
class run_stream : public std::enable_shared_from_this<run_stream> {
public:
  run_stream(engine& core, exchange_ptr ex, stream_format format, run_id run)
      : core_{core}, ex_{std::move(ex)}, lines_{format}, format_{format},
        run_{std::move(run)} {}

  /// Joins a run under way, or ended, behind its event `after`.
  void follow(std::uint64_t after);

  bool event(const run_event& e);
  /// What `engine::submit` ends with: the end, where no event told it.
  void finished(result<std::shared_ptr<const run_result>> done);
  /// More for the head of the stream.
  void announce(response head) { head_ = std::move(head); }

private:
  void open();
  bool write(const run_event& e);
  void accepted(const result<void>& answer);

  engine& core_;
  std::mutex mutex_;
  exchange_ptr ex_;
  event_lines lines_;
  stream_format format_;
  const run_id run_;
  response head_;
  std::uint64_t last_ = 0; // the number of the last event that was written
  bool opened_ = false;
  bool following_ = false; // by subscription: it brings the end as well
};

} // namespace troupe::net
