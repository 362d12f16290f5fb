#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/engine/sandbox_error.hpp"
#include "runtime/engine/sandbox_files.hpp"
#include "runtime/model/sandbox.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Called exactly once, on any thread.
template <class T>
using sandbox_handler = std::function<void(sandbox_result<T>)>;

/// How far a reader has come.
struct output_offsets {
  std::uint64_t out = 0;
  std::uint64_t err = 0;

  std::uint64_t& of(output_stream s) {
    return s == output_stream::out ? out : err;
  }
  std::uint64_t of(output_stream s) const {
    return s == output_stream::out ? out : err;
  }
};

/// Bytes of one stream from `from` on. What fell out of the window between the
/// offset that was asked for and that is counted in `missed`.
struct output_piece {
  std::uint64_t from = 0;
  std::uint64_t missed = 0;
  std::string bytes;

  std::uint64_t next() const { return from + bytes.size(); }
};

/// A process of a sandbox as its readers see it. Of each stream it keeps the
/// last part, so that a late reader, or one that comes back, goes on where it
/// was. Thread-safe; no call blocks.
class sandbox_program {
public:
  virtual ~sandbox_program() = default;
  virtual process_record record() const = 0;
  virtual output_piece read(output_stream which, std::uint64_t from,
                            std::size_t most) const = 0;
  /// Calls `then` once, on any thread, when there is more than was read or the
  /// process has ended; perhaps at once. `exhausted` with too many readers.
  virtual result<void> when_more(output_offsets read,
                                 std::function<void()> then)
    = 0;
  /// Calls `then` once it has ended; perhaps at once.
  virtual void when_ended(std::function<void()> then) = 0;
  virtual void write(std::string bytes, sandbox_handler<void> done) = 0;
  virtual void close_input(sandbox_handler<void> done) = 0;
  /// To the process and everything that it started.
  virtual void signal(std::int32_t number, sandbox_handler<void> done) = 0;
  /// Of its terminal; `conflict` when it has none.
  virtual void resize(terminal_size to, sandbox_handler<void> done) = 0;
};
using sandbox_program_ptr = std::shared_ptr<sandbox_program>;

class sandbox_contexts;
class sandbox_trees;

/// What happened to a sandbox, the last of it, for readers that come and go.
/// Thread-safe; no call blocks.
class sandbox_events {
public:
  virtual ~sandbox_events() = default;
  /// Those behind `after`, at most so many. Older ones than are kept are gone.
  virtual std::vector<sandbox_event> read(std::uint64_t after,
                                          std::size_t most) const = 0;
  /// Calls `then` once, on any thread, when there is one behind `after` or
  /// never will be; perhaps at once. `exhausted` with too many readers.
  virtual result<void> when_more(std::uint64_t after,
                                 std::function<void()> then)
    = 0;
  /// There will be no more.
  virtual bool over() const = 0;
};
using sandbox_events_ptr = std::shared_ptr<sandbox_events>;

/// Living sandboxes, as every front door sees them. What is another
/// organization's is not found. Thread-safe; no call blocks; every handler is
/// called. Bytes do not pass through actors: output is read from the process,
/// files come from the place.
class sandbox_engine {
public:
  template <class T>
  using done = sandbox_handler<T>;

  virtual ~sandbox_engine() = default;

  /// Answers when it runs, or as soon as it is accepted, as the spec says. With
  /// a session: the one of that session, if there is one.
  virtual void create(caller who, sandbox_spec what,
                      done<sandbox_record_ptr> then)
    = 0;
  virtual void find(caller who, sandbox_id id, done<sandbox_record_ptr> then)
    = 0;
  virtual void list(caller who, sandbox_filter which,
                    done<page<sandbox_record_ptr>> then)
    = 0;
  /// It ends so long from now, which may be sooner than before.
  virtual void renew(caller who, sandbox_id id,
                     std::chrono::milliseconds timeout,
                     done<sandbox_record_ptr> then)
    = 0;
  /// It runs when this answers, resumed if need be, and has been used now; with
  /// a timeout it ends so long from now.
  virtual void connect(caller who, sandbox_id id,
                       std::optional<std::chrono::milliseconds> timeout,
                       done<sandbox_record_ptr> then)
    = 0;
  virtual void change(caller who, sandbox_id id, sandbox_change what,
                      done<sandbox_record_ptr> then)
    = 0;
  /// Its processes stand still and keep their memory.
  virtual void pause(caller who, sandbox_id id, done<sandbox_record_ptr> then)
    = 0;
  virtual void resume(caller who, sandbox_id id, done<sandbox_record_ptr> then)
    = 0;
  virtual void events(caller who, sandbox_id id, done<sandbox_events_ptr> then)
    = 0;
  /// Answers when nothing of it is left.
  virtual void remove(caller who, sandbox_id id, done<void> then) = 0;

  // -- snapshots -------------------------------------------------------------
  /// Its files as they are now, under a name if it is given one.
  virtual void snapshot(caller who, sandbox_id id, std::string name,
                        done<snapshot_record_ptr> then)
    = 0;
  /// Newest last.
  virtual void list_snapshots(caller who,
                              done<std::vector<snapshot_record_ptr>> then)
    = 0;
  /// By its id or its name.
  virtual void find_snapshot(caller who, std::string which,
                             done<snapshot_record_ptr> then)
    = 0;
  /// Sandboxes that were made from it stay.
  virtual void remove_snapshot(caller who, std::string which, done<void> then)
    = 0;
  /// Its files are those of a snapshot again; everything in it ends.
  virtual void rollback(caller who, sandbox_id id, std::string snapshot,
                        done<sandbox_record_ptr> then)
    = 0;
  /// New sandboxes with the same files, and all else as it has it; each is made
  /// or not by itself.
  using forks = std::vector<sandbox_result<sandbox_record_ptr>>;
  virtual void fork(caller who, sandbox_id id, fork_spec what, done<forks> then)
    = 0;

  // -- processes -------------------------------------------------------------
  /// Answers when it has begun.
  virtual void start(caller who, sandbox_id id, process_spec what,
                     done<sandbox_program_ptr> then)
    = 0;
  virtual void find_process(caller who, sandbox_id id, std::string process,
                            done<sandbox_program_ptr> then)
    = 0;
  /// Those that run, and the last ones that ended.
  virtual void list_processes(caller who, sandbox_id id,
                              done<std::vector<sandbox_program_ptr>> then)
    = 0;
  /// Kills it if need be, and forgets it.
  virtual void remove_process(caller who, sandbox_id id, std::string process,
                              done<void> then)
    = 0;

  /// Interpreters that keep their state; null where there are none.
  virtual sandbox_contexts* contexts() { return nullptr; }
  /// Parts and trees of their files; null where there are none.
  virtual sandbox_trees* trees() { return nullptr; }

  // -- ports -----------------------------------------------------------------
  /// A stream socket, non-blocking, to what listens on a TCP port inside.
  virtual void connect(caller who, sandbox_id id, std::uint16_t port,
                       done<unique_fd> then)
    = 0;
  /// The TCP ports inside that are listened on, in order.
  virtual void list_ports(caller who, sandbox_id id,
                          done<std::vector<std::uint16_t>> then)
    = 0;

  // -- files -----------------------------------------------------------------
  virtual void read_file(caller who, sandbox_id id, std::string path,
                         done<std::string> then)
    = 0;
  virtual void write_file(caller who, sandbox_id id, std::string path,
                          std::string bytes, done<void> then)
    = 0;
  virtual void list_files(caller who, sandbox_id id, std::string path,
                          done<std::vector<sandbox_entry>> then)
    = 0;
  virtual void stat_file(caller who, sandbox_id id, std::string path,
                         done<sandbox_entry> then)
    = 0;
  virtual void make_folder(caller who, sandbox_id id, std::string path,
                           done<void> then)
    = 0;
  virtual void move_file(caller who, sandbox_id id, std::string from,
                         std::string to, done<void> then)
    = 0;
  virtual void remove_file(caller who, sandbox_id id, std::string path,
                           done<void> then)
    = 0;
};

} // namespace troupe
