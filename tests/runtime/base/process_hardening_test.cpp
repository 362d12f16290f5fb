#include "runtime/base/process_hardening.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

BOOST_AUTO_TEST_SUITE(own_memory)

namespace {

/// In a process of its own: there is no way back from a limit.
int check() {
  if (!troupe::keep_memory_private())
    return 1;
  if (::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
    return 2;
  rlimit core{1, 1};
  ::getrlimit(RLIMIT_CORE, &core);
  return core.rlim_cur == 0 && core.rlim_max == 0 ? 0 : 3;
}

} // namespace

BOOST_AUTO_TEST_CASE(is_written_nowhere_once_it_is_private) {
  const auto child = ::fork();
  BOOST_TEST_REQUIRE(child >= 0);
  if (child == 0)
    ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
