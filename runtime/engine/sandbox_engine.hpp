#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/engine/sandbox_error.hpp"
#include "runtime/engine/sandbox_files.hpp"
#include "runtime/model/sandbox.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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
};
using sandbox_program_ptr = std::shared_ptr<sandbox_program>;

/// Living sandboxes, as every front door sees them. What is another
/// organization's is not found. Thread-safe; no call blocks; every handler is
/// called. Bytes do not pass through actors: output is read from the process,
/// files come from the place.
class sandbox_engine {
public:
  template <class T>
  using done = sandbox_handler<T>;

  virtual ~sandbox_engine() = default;

  /// Answers when it runs, or as soon as it is accepted, as the spec says.
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
  /// Answers when nothing of it is left.
  virtual void remove(caller who, sandbox_id id, done<void> then) = 0;

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
