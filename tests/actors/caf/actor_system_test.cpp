#include "actors/caf/actor_system.hpp"
#include "actors/caf/scheduler_policy.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(actor_system_config)

BOOST_AUTO_TEST_CASE(never_leave_the_scheduler_to_defaults) {
  system_config config{3};
  auto content = config.dump_content();
  caf::actor_system system{config};
  using ours = caf::scheduler::coordinator<scheduler_policy>;
  BOOST_TEST(dynamic_cast<ours*>(&system.scheduler()) != nullptr);
  BOOST_TEST(caf::get_or(content, "scheduler.max-threads", size_t{0}) == 3u);
  BOOST_TEST(caf::get_or(content, "scheduler.max-throughput", size_t{0})
             == 32u);
}

BOOST_AUTO_TEST_SUITE_END()
