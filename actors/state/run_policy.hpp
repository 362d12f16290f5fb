#pragma once

#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/run_files.hpp"
#include "runtime/model/sandbox_config.hpp"
#include "runtime/model/variable.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace troupe {

/// What every run is measured against, whatever it or its config says.
struct run_rules {
  troupe::limits defaults;
  troupe::limits ceiling = standard_ceiling();
  network_policy network;                                // no run gets more
  isolation_level isolation = isolation_level::standard; // by default
  isolation_level weakest = isolation_level::standard;   // no run gets less
  config_defaults configs;
  backend_name standard_backend = backend_kind::e2b; // by default
  bool fail_closed = false; // nothing for a provider runs here instead
  /// What local runs may see of our own environment; see `inherit`.
  environment inherited;
  std::size_t arguments_bytes = 4u << 20;
  std::size_t source_bytes = 1u << 20;
  troupe::file_bounds files;
  std::size_t variables = 1'024;          // in one run
  std::size_t variables_bytes = 1u << 20; // names and values
};

/// The values of the named process variables, as they are now. Called before
/// there are threads: the process environment is not safe with them.
environment inherit(const std::vector<std::string>& names);

} // namespace troupe
