#pragma once

#include "actors/sandbox/live_cell.hpp"
#include "actors/sandbox/saved_context.hpp"
#include "runtime/engine/sandbox_kernel.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// One context of a sandbox: its queue of cells and the interpreter that runs
/// them, which is replaced when it is lost. The interpreter is spoken to on its
/// place's executor; of the sandbox's actor this is only an entry.
class live_context final : public sandbox_context,
                           public std::enable_shared_from_this<live_context> {
public:
  using clock = sandbox_options::clock;

  struct environment_of {
    sandbox_place place;
    std::shared_ptr<const sandbox_handle> box;
    sandbox_rules rules;
    std::function<clock::time_point()> now;
    /// Something is due at another time than before, or it has ended.
    std::function<void()> changed;
  };
  live_context(context_spec what, bool is_default, environment_of around);
  /// It goes on from there.
  live_context(saved_context_ptr from, environment_of around);

  const std::string& id() const { return id_; }

  // -- for the sandbox -------------------------------------------------------
  /// Its first interpreter.
  void begin();
  sandbox_result<sandbox_cell_ptr> enqueue(cell_spec what);
  /// Acts on what is due.
  void look();
  clock::time_point due() const { return clock::time_point{due_.load()}; }
  /// Its first interpreter could not be started.
  bool never_began() const;
  /// Ends it; cells that run or wait are lost.
  void close(std::string why);
  /// As it is now; it goes on. Cells that come meanwhile wait. `begun` is
  /// called when nothing stands against it.
  void save(std::function<void()> begun,
            sandbox_handler<saved_context_ptr> then);
  /// What it had where it comes from, and has not; once it is ready.
  void when_lost_known(sandbox_handler<std::vector<std::string>> then);

  // -- for its callers -------------------------------------------------------
  context_record record() const override;
  void when_ready(sandbox_handler<void> then) override;
  void interrupt(sandbox_handler<bool> then) override;
  void restart(sandbox_handler<void> then) override;

private:
  /// What was done about a cell that is over its time.
  enum class patience : std::uint8_t { none, interrupted, killed };
  using work = void (live_context::*)();

  void at_place(work what);
  void start_kernel();
  void started(std::uint64_t generation,
               result<std::shared_ptr<sandbox_kernel>> came);
  kernel_events events_of(std::uint64_t generation);
  void append(output_stream which, std::string_view bytes);
  /// The next cell, if there is one and nothing else runs.
  void pump();
  void cell_done(const kernel_answer& how);
  void kernel_ended(const result<process_end>& how);
  void lose(std::string why, cell_status current);
  void act_on_due();
  void interrupt_cell();
  void kill_kernel();
  void calm_down();
  void wait_until_ready(sandbox_handler<void> then);
  void answer_interrupts(bool interrupted);
  void answer_ready(const sandbox_result<void>& how);
  void save_now(std::function<void()> begun,
                sandbox_handler<saved_context_ptr> then);
  void set_due();
  void set_state(context_state state);
  sandbox_error lost() const;

  const std::string id_;
  const context_spec what_;
  const environment_of around_;
  std::atomic<clock::duration> due_{clock::duration::max()};

  mutable std::mutex mutex_; // guards what follows
  context_record record_;
  std::deque<live_cell_ptr> queue_;
  bool closed_ = false;

  // On the executor only:
  std::shared_ptr<sandbox_kernel> kernel_;
  live_cell_ptr current_;
  std::string lost_before_; // the next cell: why
  std::string out_between_; // two cells
  std::string err_between_;
  std::uint64_t generation_ = 0; // of interpreters: what older ones say is late
  saved_context_ptr from_;       // until it has begun there
  std::vector<std::string> lost_;
  bool saving_ = false;
  bool starting_ = false;
  bool restarts_ = false; // when this one has ended
  patience timeout_ = patience::none;
  clock::time_point cell_end_ = clock::time_point::max();
  clock::time_point patience_end_ = clock::time_point::max();
  std::vector<sandbox_handler<bool>> interrupts_;
  std::vector<sandbox_handler<void>> until_ready_;
};
using live_context_ptr = std::shared_ptr<live_context>;

} // namespace troupe
