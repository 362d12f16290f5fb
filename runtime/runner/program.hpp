#pragma once

#include "runtime/base/embedded_file.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/backend.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::script {

/// Where things lie inside the sandbox.
struct program_paths {
  std::string python = "/usr/bin/python3";
  std::string node = "/usr/bin/node";
  std::string shell = "/bin/sh";
  /// What `install_runners` wrote, mounted read-only.
  std::string runners = "/opt/troupe/runners";
};

/// Which warm interpreter can carry the request out.
enum class runner : std::uint8_t {
  none,   // a command: no interpreter of ours, the exit code is the result
  python, // import troupe_runner; troupe_runner.serve_one(3)
  node,   // require("<runners>/node/serve.cjs").serve_one(3)
};

/// All that a process needs to carry out a run.
///
/// Cold: exec `argv` with `environment` and nothing else, descriptor 0 on
/// /dev/null (or `input`), 1 and 2 on pipes, 3 on the private channel. Warm:
/// call the runner's `serve_one(3)` in the forked interpreter. Either way:
/// write `request` to the channel, then read at most `answer_limit` + 1 bytes.
struct program {
  runner by = runner::none;
  std::vector<std::string> argv;
  /// Of the process itself. For an interpreter only harmless basics: the run's
  /// own variables are inside of `request` and appear in its os.environ.
  troupe::environment environment;
  secret request;               // "" for a command
  std::size_t answer_limit = 0; // 0 for a command: no channel is needed
  std::string input;            // stdin of a command
};

/// What every process of ours finds in its environment, unless the run says
/// otherwise.
environment basic_environment();

/// Of a Node that is started before its request comes: it uses the time to load
/// what a run may need. The tool does not find it.
environment prestart_environment();

/// `code` is the answer to `build_compile` for the same source and the same
/// interpreter, or "".
result<program> build_program(const prepared_run& run,
                              const program_paths& paths = {},
                              std::string_view code = {});

/// A program that compiles the run's source and runs nothing of it. The code
/// part of its answer can be handed to `build_program`: it saves parsing and,
/// for TypeScript, the removal of types. Code that comes from a process which
/// ran a tool must never be used: a tool that forges it decides what the next
/// run does.
result<program> build_compile(const prepared_run& run,
                              const program_paths& paths = {});
/// The code part, or why the source does not compile.
result<std::string> parse_compiled(std::string_view answer);

/// The same run as one self-contained text, for backends that take nothing
/// but code: Python or JavaScript that prints a keyed frame on stdout.
result<secret> build_remote_script(const prepared_run& run,
                                   std::string_view key);

// -- the runners' own files --------------------------------------------------

/// Everything of ours that runs in a sandbox, as compiled into this binary:
/// "python/serve.py", "python/troupe_runner/frame.py", "node/serve.cjs", ...
std::span<const embedded_file> runner_files();

/// Writes the files below `directory`, world-readable, for read-only mounts.
/// What is there and the same stays; the rest is replaced atomically.
result<void> install_runners(const std::string& directory);

/// Whether types can be stripped: false when the build could not get the
/// transpiler; every TypeScript run then says so.
bool typescript_available();

} // namespace troupe::script
