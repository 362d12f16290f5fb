#pragma once

#include "runtime/engine/sandbox_engine.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Files that are watched, as one reader sees them. What happened is kept until
/// it is taken; beyond a thousand events there is one that says so. Ends when
/// it goes. Thread-safe; no call blocks.
class sandbox_watch {
public:
  virtual ~sandbox_watch() = default;
  virtual std::vector<file_event> take() = 0;
  /// Why nothing more will come; nothing: more may.
  virtual std::optional<error> over() const = 0;
  /// Calls `then` once, on any thread, when there is something to take or it is
  /// over; perhaps at once. The one before it is forgotten.
  virtual void when_more(std::function<void()> then) = 0;
  virtual void close() = 0;
};
using sandbox_watch_ptr = std::shared_ptr<sandbox_watch>;

/// Parts and trees of the files of living sandboxes; otherwise as
/// `sandbox_engine`.
class sandbox_trees {
public:
  template <class T>
  using done = sandbox_handler<T>;

  virtual ~sandbox_trees() = default;

  virtual void read_part(caller who, sandbox_id id, std::string path,
                         byte_range which, done<file_part> then)
    = 0;
  virtual void search(caller who, sandbox_id id, file_search what,
                      done<files_found> then)
    = 0;
  /// Writes a tar archive to a stream, which is closed behind it; answers when
  /// that has been done.
  virtual void pack(caller who, sandbox_id id, std::string path, unique_fd to,
                    done<archive_count> then)
    = 0;
  /// The other way, until the stream ends.
  virtual void unpack(caller who, sandbox_id id, std::string path,
                      unique_fd from, done<archive_count> then)
    = 0;
  /// Answers when the folder is watched; `deep`: with all that is below.
  virtual void watch(caller who, sandbox_id id, std::string path, bool deep,
                     done<sandbox_watch_ptr> then)
    = 0;
};

} // namespace troupe
