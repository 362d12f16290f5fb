#pragma once

#include "runtime/model/limits.hpp"

#include <map>
#include <span>
#include <string>

namespace troupe::test {

/// Tools in JavaScript by what they are about: what is told of their runs must
/// not depend on where the process came from.
const std::map<std::string, std::string>& node_table();

/// The same of runs that are given too little.
struct narrow_run {
  const char* source;
  void (*narrow)(limits&);
  const char* layer; // needed on the host
};
std::span<const narrow_run> node_limits();

} // namespace troupe::test
