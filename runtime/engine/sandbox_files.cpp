#include "runtime/engine/sandbox_files.hpp"

#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"

namespace troupe {

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

result<void> check_sandbox_path(std::string_view path) {
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

sandbox_files::later<void> sandbox_files::write(sandbox_handle in,
                                                std::vector<sandbox_file> files,
                                                call_scope scope) {
  for (const auto& file : files)
    if (auto fine = check_sandbox_path(file.path); !fine)
      co_return fine.error();
  if (files.empty())
    co_return result<void>{};
  co_return co_await do_write(std::move(in), std::move(files),
                              std::move(scope));
}

sandbox_files::later<std::string>
sandbox_files::read(sandbox_handle in, std::string path, call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_read(std::move(in), std::move(path), std::move(scope));
}

sandbox_files::later<std::vector<sandbox_entry>>
sandbox_files::list(sandbox_handle in, std::string path, call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  auto found
    = co_await do_list(std::move(in), std::move(path), std::move(scope));
  if (found && found->size() > max_entries)
    co_return fail(ec::exhausted, "the directory has more than 100000 names");
  co_return found;
}

sandbox_files::later<sandbox_entry>
sandbox_files::stat(sandbox_handle in, std::string path, call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_stat(std::move(in), std::move(path), std::move(scope));
}

sandbox_files::later<void> sandbox_files::make_folder(sandbox_handle in,
                                                      std::string path,
                                                      call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_make_folder(std::move(in), std::move(path),
                                    std::move(scope));
}

sandbox_files::later<void> sandbox_files::move(sandbox_handle in,
                                               std::string from, std::string to,
                                               call_scope scope) {
  for (const auto* path : {&from, &to})
    if (auto fine = check_sandbox_path(*path); !fine)
      co_return fine.error();
  co_return co_await do_move(std::move(in), std::move(from), std::move(to),
                             std::move(scope));
}

sandbox_files::later<void>
sandbox_files::remove(sandbox_handle in, std::string path, call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_remove(std::move(in), std::move(path),
                               std::move(scope));
}

} // namespace troupe
