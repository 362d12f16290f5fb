#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::test {

/// An official client, tests/compat/NAME with its lock file, in a folder of
/// the build. As the precondition of a case: without npm or a registry it is
/// reported as skipped, except where CI=true promises both.
///
///   BOOST_AUTO_TEST_CASE(x, *boost::unit_test::precondition(client)) {}
class npm_client {
public:
  npm_client(std::string name, std::string folder)
      : name_{std::move(name)}, folder_{std::move(folder)} {}

  bool install() const {
    const std::string source = TROUPE_SOURCE_DIR "/tests/";
    auto done
      = std::system(("bash '" + source + "support/hosts/npm_ci.sh' '" + source
                     + "compat/" + name_ + "' '" + folder_ + "'")
                      .c_str());
    return WIFEXITED(done) && WEXITSTATUS(done) == 0;
  }

  boost::test_tools::assertion_result
  operator()(boost::unit_test::test_unit_id) const {
    boost::test_tools::assertion_result runs{install() || promised()};
    runs.message() << "the client of " << name_ << " cannot be installed";
    return runs;
  }

private:
  /// The case runs then, and fails for want of the client.
  static bool promised() {
    auto said = std::getenv("CI");
    return said && std::string_view{said} == "true";
  }

  std::string name_;
  std::string folder_;
};

} // namespace troupe::test
