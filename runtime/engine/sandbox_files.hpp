#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
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
};

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

private:
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
