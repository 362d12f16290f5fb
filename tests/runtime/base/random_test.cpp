#include "runtime/base/random.hpp"
#include "runtime/model/ids.hpp"

#include <boost/test/unit_test.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(randomness)

BOOST_AUTO_TEST_CASE(gives_nothing_out_twice) {
  std::set<std::string> seen;
  std::vector<std::set<std::string>> of_thread(4);
  std::vector<std::thread> threads;
  for (auto& ids : of_thread)
    threads.emplace_back([&ids] {
      for (int i = 0; i < 1'000; ++i) // many pages
        ids.insert(make_uuid());
    });
  for (auto& t : threads)
    t.join();
  for (const auto& ids : of_thread)
    seen.insert(ids.begin(), ids.end());
  BOOST_TEST(seen.size() == 4'000u);
}

BOOST_AUTO_TEST_CASE(fills_more_than_it_keeps) {
  std::vector<std::uint8_t> much(100'000, 0);
  random_bytes(much);
  std::array<std::size_t, 256> counts{};
  for (auto byte : much)
    ++counts[byte];
  for (auto count : counts)
    BOOST_TEST(count > 200u); // 390 on average
}

BOOST_AUTO_TEST_CASE(tells_a_forked_child_something_else) {
  (void)make_uuid(); // there is a page with something left in it
  int ends[2];
  BOOST_REQUIRE(::pipe(ends) == 0);
  // As the warden does it: no handler of the C library runs.
  const auto child
    = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  BOOST_REQUIRE(child >= 0);
  std::array<std::uint8_t, 16> bytes{};
  if (child == 0) {
    random_bytes(bytes);
    const auto n = ::write(ends[1], bytes.data(), bytes.size());
    ::_exit(n == static_cast<ssize_t>(bytes.size()) ? 0 : 1);
  }
  std::array<std::uint8_t, 16> of_child{};
  BOOST_TEST(::read(ends[0], of_child.data(), of_child.size()) == 16);
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  // The parent would give out the same next.
  random_bytes(bytes);
  BOOST_TEST((bytes != of_child));
  ::close(ends[0]);
  ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()
