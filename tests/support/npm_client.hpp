#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace troupe::test {

/// Installs an official client, tests/compat/NAME with its lock file, into a
/// folder of the build. False where there is no npm or no registry: the case
/// says so and ends.
inline bool install_npm_client(const std::string& name,
                               const std::string& folder) {
  const std::string source = TROUPE_SOURCE_DIR "/tests/";
  auto installed
    = std::system(("bash '" + source + "support/npm_ci.sh' '" + source
                   + "compat/" + name + "' '" + folder + "'")
                    .c_str());
  if (WIFEXITED(installed) && WEXITSTATUS(installed) == 77) {
    std::cout << name << ": skipped, see above\n";
    return false;
  }
  BOOST_REQUIRE(installed == 0);
  return true;
}

} // namespace troupe::test
