#include "net/providers/sandbox_files.hpp"

#include "net/http/fail.hpp"
#include "net/http/printable.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t max_path_bytes = 4'096; // PATH_MAX of every sandbox
constexpr std::size_t max_entries = 100'000;

error bad_path(std::string_view path, std::string_view why) {
  return fail(ec::invalid_request,
              "path: '" + printable(path) + "' " + std::string{why});
}

bool spoils_a_header(unsigned char c) {
  return c < 0x20 || c == 0x7f || c == '"' || c == '\\';
}

} // namespace

result<void> check_remote_path(std::string_view path) {
  if (!path.starts_with('/'))
    return bad_path(path, "is not absolute; begin it with a slash");
  if (path.size() > max_path_bytes)
    return bad_path(path.substr(0, 100), "is longer than 4096 bytes");
  for (unsigned char c : path)
    if (spoils_a_header(c))
      return bad_path(path,
                      "has a quote, a backslash or a control character; "
                      "use a name without");
  return {};
}

remote_files::later<void> remote_files::write(remote_sandbox in,
                                              std::vector<remote_file> files,
                                              call_scope scope) {
  for (const auto& file : files)
    if (auto fine = check_remote_path(file.path); !fine)
      co_return fine.error();
  if (files.empty())
    co_return result<void>{};
  co_return co_await do_write(std::move(in), std::move(files),
                              std::move(scope));
}

remote_files::later<std::string>
remote_files::read(remote_sandbox in, std::string path, call_scope scope) {
  if (auto fine = check_remote_path(path); !fine)
    co_return fine.error();
  co_return co_await do_read(std::move(in), std::move(path), std::move(scope));
}

remote_files::later<std::vector<remote_entry>>
remote_files::list(remote_sandbox in, std::string path, call_scope scope) {
  if (auto fine = check_remote_path(path); !fine)
    co_return fine.error();
  auto found
    = co_await do_list(std::move(in), std::move(path), std::move(scope));
  if (found && found->size() > max_entries)
    co_return fail(ec::exhausted, "the directory has more than 100000 names");
  co_return found;
}

remote_files::later<remote_entry>
remote_files::stat(remote_sandbox in, std::string path, call_scope scope) {
  if (auto fine = check_remote_path(path); !fine)
    co_return fine.error();
  co_return co_await do_stat(std::move(in), std::move(path), std::move(scope));
}

remote_files::later<void> remote_files::make_folder(remote_sandbox in,
                                                    std::string path,
                                                    call_scope scope) {
  if (auto fine = check_remote_path(path); !fine)
    co_return fine.error();
  co_return co_await do_make_folder(std::move(in), std::move(path),
                                    std::move(scope));
}

remote_files::later<void> remote_files::move(remote_sandbox in,
                                             std::string from, std::string to,
                                             call_scope scope) {
  for (const auto* path : {&from, &to})
    if (auto fine = check_remote_path(*path); !fine)
      co_return fine.error();
  co_return co_await do_move(std::move(in), std::move(from), std::move(to),
                             std::move(scope));
}

remote_files::later<void>
remote_files::remove(remote_sandbox in, std::string path, call_scope scope) {
  if (auto fine = check_remote_path(path); !fine)
    co_return fine.error();
  co_return co_await do_remove(std::move(in), std::move(path),
                               std::move(scope));
}

} // namespace troupe::net
