#pragma once

#include "tests/runtime/local/support.hpp"

namespace troupe::test {

/// Two backends that differ in nothing but where a run's process comes from.
local_host& warm_host();
local_host& cold_host();

/// Whether the warm one has such an interpreter by now. Node's starts with its
/// first run.
bool warm_is_ready(zygote::family of);

/// For suites about warm Node: whether this machine's can be one.
boost::test_tools::assertion_result
  has_warm_node(boost::unit_test::test_unit_id);

/// The warm one, once it has that interpreter: for tables of ways. Where Node
/// cannot be warm, the cold one.
local_host& warm_python();
local_host& warm_node();

/// A source with a function `f`.
prepared_run tool(std::string source, std::string args = "{}",
                  language lang = language::python);

/// KiB of a process's memory, as /proc sums it up under this name.
std::size_t memory_of(pid_t process, std::string_view name);

/// What must not depend on the way, as one text.
std::string essence(const run_result& r);

} // namespace troupe::test
