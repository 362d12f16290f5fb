#pragma once

#include "net/api/shared/pulled_bytes.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <atomic>
#include <chrono>

namespace troupe::net::e2b_facade {

/// A process as envelopes: its pid, its output, its end. When its sandbox goes
/// away the connection is cut instead, by which clients know.
class process_stream final : public pulled_bytes {
public:
  process_stream(exchange_ptr ex, sandbox_program_ptr program,
                 output_offsets from)
      : pulled_bytes{std::move(ex)}, program_{std::move(program)}, from_{from} {
  }

  /// After that long the stream ends, and the process goes on.
  void bound(std::chrono::milliseconds time);

private:
  void open(exchange& ex) override;
  bool step() override;
  bool write_piece(output_stream which);
  bool write_end(const process_record& record);
  void wait_for_more();

  const sandbox_program_ptr program_;
  output_offsets from_; // moves on; used by the thread that is busy
  const bool at_terminal_ = program_->record().terminal.has_value();
  bool begun_ = false;
  std::atomic<bool> out_of_time_{false};
};

/// {"event":{"end":{...}}} of a process that ended.
std::string process_end_json(const process_record& record);

} // namespace troupe::net::e2b_facade
