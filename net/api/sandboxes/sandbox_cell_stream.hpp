#pragma once

#include "net/api/shared/pulled_stream.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

#include <string>

namespace troupe::net {

/// What becomes of a cell, on its way to one client: its output and its events
/// in the order in which they were told.
class sandbox_cell_stream final : public pulled_stream {
public:
  sandbox_cell_stream(exchange_ptr ex, sandbox_cell_ptr cell,
                      stream_format format)
      : pulled_stream{std::move(ex), format}, cell_{std::move(cell)} {}

private:
  bool step() override;
  void wait_for_more();
  /// At most up to that offset.
  bool write_output(output_stream which, std::uint64_t before);

  const sandbox_cell_ptr cell_;
  cell_offsets read_;
  utf8_joiner out_;
  utf8_joiner err_;
};

/// {"type": "display" | "update" | "result" | "error", ...}
std::string cell_event_text(const cell_event& e);

/// All at once: how it ended, and what it told.
std::string cell_answer_text(const sandbox_cell& cell);

} // namespace troupe::net
