#pragma once

#include "actors/sandbox/output_window.hpp"
#include "actors/state/sandbox_options.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

/// One process of a sandbox: what it says comes in on its place's thread and is
/// read on any other. Of the actor of its sandbox it is only an entry.
class live_process final : public sandbox_program,
                           public std::enable_shared_from_this<live_process> {
public:
  using ended_handler = std::function<void()>;

  live_process(const process_spec& what, const sandbox_rules& rules,
               boost::asio::any_io_executor executor);

  const std::string& id() const { return id_; }

  // -- for the sandbox -------------------------------------------------------
  /// What its place tells of it.
  process_events events();
  /// It has begun. On the place's executor.
  void begun(sandbox_process_ptr at_place);
  /// The same where a place has only calls that wait: `kill` ends such a call.
  void begun_as_call(std::shared_ptr<cancellation> kill);
  void ended(result<process_end> how);
  /// Kills it for that reason, which becomes its own when it ends by that.
  void end_because(process_reason why);
  /// Nothing will be heard of it any more.
  void is_lost(process_reason why);
  bool is_over() const;
  /// Called when it gets input; said before it begins.
  void when_used(std::function<void()> then) { used_ = std::move(then); }
  /// Of output that can be read again.
  std::size_t kept_bytes() const;

  // -- for its readers -------------------------------------------------------
  process_record record() const override;
  output_piece read(output_stream which, std::uint64_t from,
                    std::size_t most) const override;
  result<void> when_more(output_offsets read,
                         std::function<void()> then) override;
  void when_ended(std::function<void()> then) override;
  void write(std::string bytes, sandbox_handler<void> done) override;
  void close_input(sandbox_handler<void> done) override;
  void signal(std::int32_t number, sandbox_handler<void> done) override;
  void resize(terminal_size to, sandbox_handler<void> done) override;

private:
  struct reader {
    output_offsets read;
    std::function<void()> then;
  };
  static constexpr std::size_t most_readers = 64;

  void append(output_stream which, std::string_view bytes);
  void finish(std::unique_lock<std::mutex> lock, process_reason why);
  bool has_more(const output_offsets& read) const; // with mutex_ held
  void at_place(std::function<sandbox_result<void>(sandbox_process&)> what,
                sandbox_handler<void> done);
  void kill();

  const std::string id_;
  const boost::asio::any_io_executor executor_;
  std::function<void()> used_;

  mutable std::mutex mutex_; // guards what follows
  process_record record_;
  output_window out_;
  output_window err_;
  process_reason wanted_ = process_reason::running;
  std::vector<reader> readers_;
  std::vector<std::function<void()>> waiting_; // for the end

  // On the executor only:
  sandbox_process_ptr process_;
  std::shared_ptr<cancellation> call_;
  bool unwanted_ = false; // it was killed
};
using live_process_ptr = std::shared_ptr<live_process>;

} // namespace troupe
