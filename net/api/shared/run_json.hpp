#pragma once

#include "runtime/engine/engine.hpp"

#include <string>
#include <string_view>

namespace troupe::net {

std::string to_json_text(const run_record& r);
/// The same without what the tool said: no value, no output.
std::string summary_of(const run_record& r);
std::string to_json_text(const explanation& e);
/// The failure of an engine inside an answer that is not a problem itself.
std::string to_json_text(const error& e);

/// Cuts bytes at borders of UTF-8 sequences: what is incomplete waits.
class utf8_joiner {
public:
  std::string take(std::string_view bytes);
  std::string rest() { return std::move(carry_); }

private:
  std::string carry_;
};

enum class stream_format : std::uint8_t { sse, ndjson };

/// One entry of a stream: a line, or an SSE event with that name. `id` is what
/// a reader may go on behind; 0: nothing.
std::string frame_entry(stream_format f, std::string_view event,
                        std::string data, std::uint64_t id = 0);

/// Turns events into the lines of one stream, `end` exactly once.
class event_lines {
public:
  explicit event_lines(stream_format format) : format_{format} {}

  /// "" when there is nothing to send for this event, or after `end`.
  std::string line(const run_event& e);
  bool ended() const { return ended_; }

private:
  std::string frame(const run_event& e, std::string_view data) const;

  stream_format format_;
  utf8_joiner out_;
  utf8_joiner err_;
  bool ended_ = false;
};

std::string_view to_string(run_event_kind kind);
std::string_view to_string(run_phase phase);
std::string_view stream_type(stream_format f);

} // namespace troupe::net
