#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct sandbox_file {
  std::string path; // absolute
  std::string content;
};

/// One name in a folder of a sandbox.
struct sandbox_entry {
  std::string name;
  std::string path;
  bool folder = false;
  std::uint64_t bytes = 0; // of a file
  std::string target{};    // of a link; "": it is none
};

/// Bytes of a file, both ends included. Without a first one: the last `last`.
struct byte_range {
  std::optional<std::uint64_t> first;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

  /// Where that begins in so many bytes, and how many it is; nothing: none.
  struct place {
    std::uint64_t from = 0;
    std::uint64_t size = 0;
  };
  std::optional<place> in(std::uint64_t total) const;
};

struct file_part {
  std::uint64_t total = 0; // of the file
  std::uint64_t from = 0;
  std::optional<std::string> bytes; // nothing: the range lies behind its end
};

/// What lies below a folder, by its name and by what is in it.
struct file_search {
  std::string path;
  std::string name{}; // * is any text, ? any character; "": any name
  std::string text{}; // in a file; "": any
  bool ignore_case = false;
  std::uint32_t most = 1'000;
};

struct file_match {
  std::string path; // absolute
  bool folder = false;
  bool link = false;
  std::uint64_t bytes = 0;
  std::uint64_t line = 0; // of the text, from 1; 0: none was asked for
  std::string text;       // the first part of that line
};

struct files_found {
  std::vector<file_match> matches;
  bool whole = true; // there is no more
};

/// What went into an archive, or came out of one.
struct archive_count {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0; // of files
};

/// Something that happened to a file.
struct file_event {
  enum class kind : std::uint8_t {
    created,
    written,
    changed, // owner, mode or times
    removed,
    moved,    // `to` is its new path
    overflow, // what happened below `path` is not all told
  };

  kind what = kind::created;
  std::string path;
  std::string to;
};

/// What tells of files that are watched. On the provider's executor; `ended`
/// once and last, unless it was let go of before.
struct file_watch_events {
  std::function<void(std::vector<file_event>)> told;
  std::function<void(error)> ended;
};

/// Ends when it goes. On the provider's executor.
class file_watch {
public:
  virtual ~file_watch() = default;
};
using file_watch_ptr = std::shared_ptr<file_watch>;

/// The files of a sandbox from outside, the same at every provider that has a
/// way in. Paths are absolute. `not_found` where there is nothing. Made by a
/// provider, and not to outlive it.
class sandbox_files {
public:
  template <class T>
  using later = boost::asio::awaitable<result<T>>;

  virtual ~sandbox_files() = default;

  /// All of them; folders on the way are made, what is there is replaced.
  later<void> write(sandbox_handle in, std::vector<sandbox_file> files,
                    call_scope scope);
  later<std::string> read(sandbox_handle in, std::string path,
                          call_scope scope);
  /// What is in a folder itself, not below.
  later<std::vector<sandbox_entry>> list(sandbox_handle in, std::string path,
                                         call_scope scope);
  later<sandbox_entry> stat(sandbox_handle in, std::string path,
                            call_scope scope);
  /// With its parents. One that is there is fine.
  later<void> make_folder(sandbox_handle in, std::string path,
                          call_scope scope);
  later<void> move(sandbox_handle in, std::string from, std::string to,
                   call_scope scope);
  /// A folder with all that is in it.
  later<void> remove(sandbox_handle in, std::string path, call_scope scope);

  // What not every provider has: `invalid_request` there.

  /// At most 64 MiB of a range.
  later<file_part> read_part(sandbox_handle in, std::string path,
                             byte_range which, call_scope scope);
  later<files_found> search(sandbox_handle in, file_search what,
                            call_scope scope);
  /// Writes a tar archive of what is at `path` to a stream, which is closed
  /// behind it.
  later<archive_count> pack(sandbox_handle in, std::string path, unique_fd to,
                            call_scope scope);
  /// Makes of a tar archive, which ends with the stream, what it has, below
  /// the folder `path`.
  later<archive_count> unpack(sandbox_handle in, std::string path,
                              unique_fd from, call_scope scope);
  /// Answers when it is watched. `deep`: with all that is below.
  later<file_watch_ptr> watch(sandbox_handle in, std::string path, bool deep,
                              file_watch_events events, call_scope scope);

private:
  virtual later<file_part> do_read_part(sandbox_handle in, std::string path,
                                        byte_range which, call_scope scope);
  virtual later<files_found> do_search(sandbox_handle in, file_search what,
                                       call_scope scope);
  virtual later<archive_count> do_pack(sandbox_handle in, std::string path,
                                       unique_fd to, call_scope scope);
  virtual later<archive_count> do_unpack(sandbox_handle in, std::string path,
                                         unique_fd from, call_scope scope);
  virtual later<file_watch_ptr> do_watch(sandbox_handle in, std::string path,
                                         bool deep, file_watch_events events,
                                         call_scope scope);

  virtual later<void>
  do_write(sandbox_handle in, std::vector<sandbox_file> files, call_scope scope)
    = 0;
  virtual later<std::string> do_read(sandbox_handle in, std::string path,
                                     call_scope scope)
    = 0;
  virtual later<std::vector<sandbox_entry>>
  do_list(sandbox_handle in, std::string path, call_scope scope) = 0;
  virtual later<sandbox_entry> do_stat(sandbox_handle in, std::string path,
                                       call_scope scope)
    = 0;
  virtual later<void> do_make_folder(sandbox_handle in, std::string path,
                                     call_scope scope)
    = 0;
  virtual later<void> do_move(sandbox_handle in, std::string from,
                              std::string to, call_scope scope)
    = 0;
  virtual later<void> do_remove(sandbox_handle in, std::string path,
                                call_scope scope)
    = 0;
};

/// Absolute, of sane length, and without what would end a header of a form.
result<void> check_sandbox_path(std::string_view path);

} // namespace troupe
