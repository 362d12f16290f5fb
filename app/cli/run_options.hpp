#pragma once

#include "app/cli/output_files.hpp"
#include "runtime/base/error.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/settings/settings.hpp"

#include <string>
#include <vector>

namespace troupe {

/// The words of `troupe run`, as they were typed.
struct run_options {
  std::string file; // "-": standard input
  std::string code; // in place of a file
  std::string language;
  std::string function;
  std::string args;             // JSON, @file or -
  std::vector<std::string> env; // NAME=VALUE, or NAME: our own
  file_options files;
  std::string timeout;
  std::string memory;
  std::string network;
  std::vector<std::string> pip; // requirements
  std::vector<std::string> npm;
  bool without_isolation = false;
  bool best_effort = false;
  bool as_json = false;
  bool stream = false;
};

/// Reads the files, checks everything, and says which option is wrong. What the
/// command line leaves open is as the settings have it, and nothing is beyond
/// what they allow.
result<prepared_run> make_run(const run_options& said, const settings& s);

} // namespace troupe
