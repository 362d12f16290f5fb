#include "runtime/local/warm/warm_run.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

using namespace troupe;
using namespace troupe::zygote;

BOOST_AUTO_TEST_SUITE(waiting_warm_runs)

namespace {

warm_run_ptr run_with(std::string key) {
  auto run = std::make_shared<warm_run>();
  run->what.slot_key = std::move(key);
  run->what.run = std::make_shared<prepared_run>();
  return run;
}

} // namespace

BOOST_AUTO_TEST_CASE(are_taken_in_order_by_their_key) {
  waiting_runs waiting;
  const auto one = run_with("a"), two = run_with("b"), three = run_with("a");
  for (const auto& run : {one, two, three})
    waiting.add(run);
  BOOST_TEST(waiting.size() == 3u);
  BOOST_TEST(waiting.count("a") == 2u);
  BOOST_TEST(waiting.first("a") == one);
  BOOST_TEST(waiting.take("a") == one);
  BOOST_TEST(waiting.take("a") == three);
  BOOST_TEST(waiting.take("a") == nullptr);
  BOOST_TEST(waiting.first("a") == nullptr);
  BOOST_TEST(waiting.keys().size() == 1u);
  BOOST_TEST(waiting.take_any() == two);
  BOOST_TEST(waiting.take_any() == nullptr);
  BOOST_TEST(waiting.size() == 0u);
}

BOOST_AUTO_TEST_CASE(are_removed_once_and_others_stay) {
  waiting_runs waiting;
  const auto one = run_with("a"), two = run_with("a");
  waiting.add(one);
  waiting.add(two);
  waiting.remove(one);
  waiting.remove(one);
  BOOST_TEST(waiting.size() == 1u);
  BOOST_TEST(waiting.first("a") == two);
  waiting.remove(two);
  BOOST_TEST(waiting.keys().empty());
}

BOOST_AUTO_TEST_CASE(that_never_began_say_why) {
  const auto run = run_with("a");
  run->kill_asked = true;
  const auto ending = unstarted_exit(*run, "no interpreter");
  BOOST_TEST(ending.start_failure == "no interpreter");
  BOOST_TEST(ending.killed);
  BOOST_TEST(!ending.lost);
}

BOOST_AUTO_TEST_SUITE_END()
