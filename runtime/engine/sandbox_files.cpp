#include "runtime/engine/sandbox_files.hpp"

#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::size_t max_path_bytes = 4'096; // PATH_MAX of every sandbox
constexpr std::size_t max_entries = 100'000;
constexpr std::uint64_t max_part_bytes = 64u << 20;

error bad_path(std::string_view path, std::string_view why) {
  return fail(ec::invalid_request,
              "path: '" + printable(path) + "' " + std::string{why});
}

error not_here(const char* what) {
  return fail(ec::invalid_request,
              std::string{"the files of this place cannot "
                          "be "}
                + what + "; do it with exec");
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

// -- what not every provider has ----------------------------------------------

std::optional<byte_range::place> byte_range::in(std::uint64_t total) const {
  const auto from = first ? *first : total - std::min(total, last);
  const auto end = first && last < total ? last + 1 : total;
  if (from >= end)
    return std::nullopt;
  return place{from, end - from};
}

sandbox_files::later<file_part> sandbox_files::read_part(sandbox_handle in,
                                                         std::string path,
                                                         byte_range which,
                                                         call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_read_part(std::move(in), std::move(path), which,
                                  std::move(scope));
}

sandbox_files::later<files_found>
sandbox_files::search(sandbox_handle in, file_search what, call_scope scope) {
  if (auto fine = check_sandbox_path(what.path); !fine)
    co_return fine.error();
  co_return co_await do_search(std::move(in), std::move(what),
                               std::move(scope));
}

sandbox_files::later<archive_count> sandbox_files::pack(sandbox_handle in,
                                                        std::string path,
                                                        unique_fd to,
                                                        call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_pack(std::move(in), std::move(path), std::move(to),
                             std::move(scope));
}

sandbox_files::later<archive_count> sandbox_files::unpack(sandbox_handle in,
                                                          std::string path,
                                                          unique_fd from,
                                                          call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_unpack(std::move(in), std::move(path), std::move(from),
                               std::move(scope));
}

sandbox_files::later<file_watch_ptr>
sandbox_files::watch(sandbox_handle in, std::string path, bool deep,
                     file_watch_events events, call_scope scope) {
  if (auto fine = check_sandbox_path(path); !fine)
    co_return fine.error();
  co_return co_await do_watch(std::move(in), std::move(path), deep,
                              std::move(events), std::move(scope));
}

/// Where a file comes whole or not at all.
sandbox_files::later<file_part> sandbox_files::do_read_part(sandbox_handle in,
                                                            std::string path,
                                                            byte_range which,
                                                            call_scope scope) {
  auto all = co_await do_read(std::move(in), std::move(path), std::move(scope));
  if (!all)
    co_return all.error();
  file_part part;
  part.total = all->size();
  if (const auto place = which.in(part.total)) {
    part.from = place->from;
    part.bytes
      = all->substr(place->from, std::min(place->size, max_part_bytes));
  }
  co_return part;
}

sandbox_files::later<files_found>
sandbox_files::do_search(sandbox_handle, file_search, call_scope) {
  co_return not_here("searched");
}

sandbox_files::later<archive_count>
sandbox_files::do_pack(sandbox_handle, std::string, unique_fd, call_scope) {
  co_return not_here("archived");
}

sandbox_files::later<archive_count>
sandbox_files::do_unpack(sandbox_handle, std::string, unique_fd, call_scope) {
  co_return not_here("made of an archive");
}

sandbox_files::later<file_watch_ptr> sandbox_files::do_watch(sandbox_handle,
                                                             std::string, bool,
                                                             file_watch_events,
                                                             call_scope) {
  co_return not_here("watched");
}

} // namespace troupe
