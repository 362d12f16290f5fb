#pragma once

#include "net/providers/api_call.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What E2B is asked beside runs, a line each.
namespace troupe::net::e2b {

enum class plane { api, envd, interpreter };

struct call : operation {
  plane to = plane::envd;
};

// -- the sandbox itself (control plane) ---------------------------------------

call show_sandbox(std::string_view sandbox);
/// Counted from now; may shorten.
call set_timeout(std::string_view sandbox, std::chrono::seconds left);
call pause_sandbox(std::string_view sandbox);

// -- files and processes (envd) -----------------------------------------------

/// One by its path in the query, several by the names of their parts. An old
/// envd has to be told whose they are: `user`, else "".
call write_files(const std::vector<sandbox_file>& files, std::string_view user);
call read_file(std::string_view path, std::string_view user);
call list_folder(std::string_view path);
call stat(std::string_view path);
call make_folder(std::string_view path);
call move(std::string_view from, std::string_view to);
call remove(std::string_view path);

call list_processes();
/// "SIGNAL_SIGTERM" or "SIGNAL_SIGKILL": it knows no other.
call send_signal(std::uint32_t pid, std::string_view signal);
call send_input(std::uint32_t pid, std::string_view input);
call close_input(std::uint32_t pid);

// -- contexts of the code interpreter -----------------------------------------

call create_context(std::string_view language, std::string_view folder);
call list_contexts();
call restart_context(std::string_view id);
call remove_context(std::string_view id);

// -- what comes back ----------------------------------------------------------

/// Of ListDir, and of Stat.
result<std::vector<sandbox_entry>> parse_entries(std::string_view body);
result<sandbox_entry> parse_entry(std::string_view body);

/// The state of a sandbox: "running" or "paused".
result<std::string> parse_state(std::string_view body);
/// The process with that command line's last word, if it is there.
result<std::uint32_t> find_process(std::string_view body,
                                   std::string_view last_word);
result<std::string> parse_context(std::string_view body);
/// The ids.
result<std::vector<std::string>> parse_contexts(std::string_view body);

} // namespace troupe::net::e2b
