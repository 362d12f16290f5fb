#pragma once

#include "net/providers/api_call.hpp"
#include "runtime/engine/sandbox_files.hpp"
#include "runtime/json/json.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What an AIO sandbox is asked beside runs, a line each.
namespace troupe::net::aio {

// -- files --------------------------------------------------------------------

/// Of text. Its folder has to be there.
operation write_text(std::string_view path, std::string_view text);
/// Of any bytes, as a form.
operation upload(const sandbox_file& file);
/// The bytes themselves, in no envelope.
operation download(std::string_view path);
/// From one line to before another, from 0.
operation read_lines(std::string_view path, std::int64_t from, std::int64_t to);
operation list_folder(std::string_view path);
operation replace_text(std::string_view path, std::string_view text,
                       std::string_view by);
operation search_file(std::string_view path, std::string_view regex);
operation find_names(std::string_view folder, std::string_view glob);
operation grep(std::string_view folder, std::string_view text);

// -- code ---------------------------------------------------------------------

operation run_jupyter(std::string_view code, std::chrono::seconds limit);
operation run_node(std::string_view code, std::chrono::seconds limit);
/// `language` is "python" or "javascript".
operation run_code(std::string_view language, std::string_view code,
                   std::chrono::seconds limit);

// -- what comes back ----------------------------------------------------------

result<std::vector<sandbox_entry>> parse_entries(const json::object& data);
/// What code printed, of any of the three. An error when it failed.
result<std::string> parse_printed(const json::object& data);

} // namespace troupe::net::aio
