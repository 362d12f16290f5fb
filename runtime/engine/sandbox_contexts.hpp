#pragma once

#include "runtime/engine/sandbox_branches.hpp"
#include "runtime/engine/sandbox_engine.hpp"
#include "runtime/model/sandbox_context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How far a reader of a cell has come.
struct cell_offsets {
  output_offsets output;
  std::size_t events = 0;
};

/// A cell as its readers see it: its output as that of a process, of which the
/// last part is kept, and its events, each of which knows how much output came
/// before it. Thread-safe; no call blocks.
class sandbox_cell {
public:
  virtual ~sandbox_cell() = default;
  virtual cell_record record() const = 0;
  virtual output_piece read(output_stream which, std::uint64_t from,
                            std::size_t most) const = 0;
  struct placed_event {
    std::shared_ptr<const cell_event> event;
    output_offsets after; // this output came before it
  };
  /// The event of that number, from 0; nothing: not told yet.
  virtual std::optional<placed_event> event(std::size_t number) const = 0;
  /// Calls `then` once, on any thread, when there is more than was read or the
  /// cell has ended; perhaps at once. `exhausted` with too many readers.
  virtual result<void> when_more(cell_offsets read, std::function<void()> then)
    = 0;
  /// Calls `then` once it has ended; perhaps at once.
  virtual void when_ended(std::function<void()> then) = 0;
};
using sandbox_cell_ptr = std::shared_ptr<sandbox_cell>;

/// A context as its callers see it. Thread-safe; no call blocks.
class sandbox_context {
public:
  virtual ~sandbox_context() = default;
  virtual context_record record() const = 0;
  /// Answers when its interpreter is there, or why it is not.
  virtual void when_ready(sandbox_handler<void> then) = 0;
  /// Asks the cell that runs to stop; false: it has not within two seconds.
  virtual void interrupt(sandbox_handler<bool> then) = 0;
  /// A fresh interpreter; cells that run or wait are lost.
  virtual void restart(sandbox_handler<void> then) = 0;
};
using sandbox_context_ptr = std::shared_ptr<sandbox_context>;

/// Which context a cell is for.
struct context_choice {
  std::string id;                                       // "": the default one
  context_language language = context_language::python; // of the default one
};

/// The contexts of living sandboxes, as every front door sees them. What is
/// another organization's is not found. Thread-safe; every handler is called.
class sandbox_contexts {
public:
  template <class T>
  using done = sandbox_handler<T>;

  virtual ~sandbox_contexts() = default;
  /// Answers when its interpreter is there.
  virtual void create(caller who, sandbox_id in, context_spec what,
                      done<sandbox_context_ptr> then)
    = 0;
  virtual void find(caller who, sandbox_id in, std::string context,
                    done<sandbox_context_ptr> then)
    = 0;
  virtual void list(caller who, sandbox_id in,
                    done<std::vector<sandbox_context_ptr>> then)
    = 0;
  /// Ends it, whatever it is doing.
  virtual void remove(caller who, sandbox_id in, std::string context,
                      done<void> then)
    = 0;
  /// Answers when the cell is queued. The default context of a language is made
  /// by its first cell.
  virtual void run(caller who, sandbox_id in, context_choice where,
                   cell_spec what, done<sandbox_cell_ptr> then)
    = 0;
  /// New sandboxes with the same files, in which contexts go on as they are
  /// now: all of them, or none.
  virtual void branch(caller who, sandbox_id id, branch_spec what,
                      done<sandbox_branches> then)
    = 0;
};

} // namespace troupe
