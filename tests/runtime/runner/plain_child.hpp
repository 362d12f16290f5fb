#pragma once

#include "runtime/runner/program.hpp"
#include "runtime/runner/read_answer.hpp"

#include <chrono>
#include <string>
#include <vector>

/// Runs programs in a plain child process, without isolation: these tests are
/// about what happens inside.
namespace troupe::testing {

struct child_report {
  exit_reason reason = exit_reason::exited;
  int exit_code = 0;
  int signal = 0;
  std::string out;
  std::string err;
  std::string answer;
};

/// Kills the child's whole group after `patience`.
child_report carry_out(const script::program& p,
                       std::chrono::milliseconds patience
                       = std::chrono::seconds{60});

/// Where the runners were installed, once per process.
const std::string& runners_directory();
script::program_paths test_paths();

/// Every CPython from 3.9 on that this machine has, one per minor version and
/// major version of pydantic; first the one that TROUPE_TEST_PYTHON names, else
/// that of program_paths.
const std::vector<std::string>& pythons();

/// build_program, carry_out, interpret.
run_result run_plainly(const prepared_run& run,
                       std::chrono::milliseconds patience
                       = std::chrono::seconds{60});

/// A run of `source` as a tool named `f`.
prepared_run a_run(language lang, std::string source,
                   std::string args_json = "{}");

} // namespace troupe::testing
