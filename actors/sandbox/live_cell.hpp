#pragma once

#include "actors/sandbox/output_window.hpp"
#include "actors/state/sandbox_options.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// One cell: what it says comes in on its place's thread and is read on any
/// other. It is kept by its readers alone, once it has ended.
class live_cell final : public sandbox_cell {
public:
  live_cell(std::string context, cell_spec what, const sandbox_rules& rules);

  // -- for its context -------------------------------------------------------
  const std::string& code() const { return what_.code; }
  std::chrono::milliseconds timeout() const { return what_.timeout; }
  /// With why it finds nothing of what was defined before it; "": it does.
  void begin(const std::string& lost);
  void append(output_stream which, std::string_view bytes);
  void append(cell_event event);
  void finish(cell_status how, std::uint64_t count);
  /// What its context had in memory is gone.
  void finish_lost(cell_status how, std::string detail);

  // -- for its readers -------------------------------------------------------
  cell_record record() const override;
  output_piece read(output_stream which, std::uint64_t from,
                    std::size_t most) const override;
  std::optional<placed_event> event(std::size_t number) const override;
  result<void> when_more(cell_offsets read,
                         std::function<void()> then) override;
  void when_ended(std::function<void()> then) override;

private:
  static constexpr std::size_t most_readers = 64;

  using lock = std::unique_lock<std::mutex>;
  void tell_more(lock held);
  void end(lock held);

  cell_spec what_;

  mutable std::mutex mutex_; // guards what follows
  cell_record record_;
  output_window out_;
  output_window err_;
  std::vector<placed_event> events_;
  std::size_t event_bytes_ = 0;
  std::vector<std::function<void()>> readers_;
  std::vector<std::function<void()>> waiting_; // for the end
};
using live_cell_ptr = std::shared_ptr<live_cell>;

} // namespace troupe
