#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/run_files.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Of a command that runs something.
struct file_options {
  std::vector<std::string> in;  // NAME, or NAME=PATH
  std::vector<std::string> out; // patterns
  std::string directory;        // where those go; "": here
};
void add_file_options(CLI::App& command, file_options& said);

/// --file NAME, which is read from there, or NAME=PATH.
result<std::vector<run_file>> said_files(const std::vector<std::string>& words);

/// --outputs; with a directory for them and no pattern, all that is there.
std::vector<std::string> outputs_of(std::vector<std::string> patterns,
                                    const std::string& directory);

/// Bytes are bytes where a program or a file takes them: decodes a value for
/// standard output, unless that is a terminal.
std::optional<std::string> bytes_to_print(std::string_view value_json,
                                          std::string_view encoding);

/// What is said where files were asked for and none came back; else "".
std::string nothing_matched(const file_options& said);

/// What is said in place of a value that was too long.
std::string size_note(std::uint64_t characters);

/// Writes what came back below `directory`, "" being the current one, and makes
/// it. A name that would leave it is refused, and so is one that leads over a
/// link.
result<void> write_outputs(const std::vector<output_file>& files,
                           const std::string& directory);

} // namespace troupe
