#pragma once

#include "net/providers/provider.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

struct remote_file {
  std::string path; // absolute
  std::string content;
};

/// One name in a folder of a sandbox.
struct remote_entry {
  std::string name;
  std::string path;
  bool folder = false;
  std::uint64_t bytes = 0; // of a file
};

/// The files of a sandbox from outside, the same at every provider that has a
/// way in. Paths are absolute. `not_found` where there is nothing. Made by a
/// provider, and not to outlive it.
class remote_files {
public:
  template <class T>
  using later = boost::asio::awaitable<result<T>>;

  virtual ~remote_files() = default;

  /// All of them; folders on the way are made, what is there is replaced.
  later<void> write(remote_sandbox in, std::vector<remote_file> files,
                    call_scope scope);
  later<std::string> read(remote_sandbox in, std::string path,
                          call_scope scope);
  /// What is in a folder itself, not below.
  later<std::vector<remote_entry>> list(remote_sandbox in, std::string path,
                                        call_scope scope);
  later<remote_entry> stat(remote_sandbox in, std::string path,
                           call_scope scope);
  /// With its parents. One that is there is fine.
  later<void> make_folder(remote_sandbox in, std::string path,
                          call_scope scope);
  later<void> move(remote_sandbox in, std::string from, std::string to,
                   call_scope scope);
  /// A folder with all that is in it.
  later<void> remove(remote_sandbox in, std::string path, call_scope scope);

private:
  virtual later<void> do_write(remote_sandbox in,
                               std::vector<remote_file> files, call_scope scope)
    = 0;
  virtual later<std::string> do_read(remote_sandbox in, std::string path,
                                     call_scope scope)
    = 0;
  virtual later<std::vector<remote_entry>>
  do_list(remote_sandbox in, std::string path, call_scope scope) = 0;
  virtual later<remote_entry> do_stat(remote_sandbox in, std::string path,
                                      call_scope scope)
    = 0;
  virtual later<void> do_make_folder(remote_sandbox in, std::string path,
                                     call_scope scope)
    = 0;
  virtual later<void> do_move(remote_sandbox in, std::string from,
                              std::string to, call_scope scope)
    = 0;
  virtual later<void> do_remove(remote_sandbox in, std::string path,
                                call_scope scope)
    = 0;
};

/// Absolute, of sane length, and without what would end a header of a form.
result<void> check_remote_path(std::string_view path);

} // namespace troupe::net
