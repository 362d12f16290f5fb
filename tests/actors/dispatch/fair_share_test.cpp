#include "tests/support/engine/engine_fixture.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(fair_share_suite)

namespace {

constexpr auto crowded = "org-11111111-1111-4111-8111-111111111111";
constexpr auto lonely = "org-22222222-2222-4222-8222-222222222222";

engine_options one_thread() {
  engine_options options;
  options.threads = 1;
  options.admission.running = 10'000;
  options.admission.running_per_organization = 10'000;
  options.admission.running_per_other_backend = 10'000;
  return options;
}

} // namespace

// The only thread is held while thousands arrive, so all of them wait in front
// of the dispatcher, where there is no queue of ours yet.
BOOST_AUTO_TEST_CASE(lets_a_single_run_pass_a_flood_at_the_door) {
  engine_fixture f{scripted_backend::mode::answer, one_thread()};
  std::promise<void> inside, go;
  std::mutex mutex;
  std::vector<organization_id> order;
  f.local->set_script([&](const prepared_run& run, run_observer& o) {
    o.started();
    if (run.organization == default_organization()) {
      inside.set_value();
      go.get_future().wait();
    }
    std::lock_guard guard{mutex};
    order.push_back(run.organization);
    return run_outcome{scripted_backend::answer_for(run), true};
  });
  constexpr std::size_t flood = 2'000;
  std::vector<run_answer_box> boxes(flood + 2);
  auto submit = [&](std::size_t i, const char* who) {
    f.engine().submit(someone(who), source_run(), boxes[i].handle(), {});
  };
  submit(0, "");
  inside.get_future().wait();
  for (std::size_t i = 1; i <= flood; ++i)
    submit(i, crowded);
  submit(flood + 1, lonely);
  go.set_value();
  for (auto& box : boxes)
    BOOST_REQUIRE(box.get().has_value());
  const auto turn
    = std::find(order.begin(), order.end(), organization_id{lonely})
    - order.begin();
  BOOST_TEST(turn < 100);
}

BOOST_AUTO_TEST_SUITE_END()
