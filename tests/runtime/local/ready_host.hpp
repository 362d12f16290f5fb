#pragma once

#include "tests/runtime/local/support.hpp"

/// Runs of Node in processes that were started before them.
namespace troupe::test {

/// As where Node cannot be forked.
local_options without_warm_node();

/// One for all tests that do not mistreat it.
local_host& ready_host();

bool has_waiting(local_host& host, std::size_t count = 1);

/// Runs of this shape until one is carried by a process that waited.
bool prepare_for(local_host& host, prepared_run like);

/// Carried by a process that waited, or the test fails.
run_result run_ready(local_host& host, const prepared_run& run);

/// The same where `host` is the one above; else only a run.
run_result run_there(local_host& host, const prepared_run& run);

} // namespace troupe::test
