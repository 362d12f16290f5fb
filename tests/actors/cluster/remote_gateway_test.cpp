// More executions than dispatchers take: they stand in a fair line at the gate.
#include "actors/cluster/remote_queue.hpp"
#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <vector>

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(gate_suite)

namespace {

const std::string crowded = "org-11111111-1111-4111-8111-111111111111";
const std::string lonely = "org-22222222-2222-4222-8222-222222222222";

/// The only thread is held while executions arrive: all of them are in the
/// gate's mailbox, in this order, before the first is looked at.
struct held_engine {
  std::promise<void> inside, go;
  std::mutex mutex;
  std::vector<std::pair<organization_id, run_id>> order;
  engine_fixture f{scripted_backend::mode::answer, options()};
  gateway_actor gate = context_of(*f.host)->routes.load()->gate;
  caf::scoped_actor self{gate->home_system()};
  run_answer_box first;

  held_engine() {
    f.local->set_script([this](const prepared_run& run, run_observer& o) {
      o.started();
      if (run.organization == default_organization()) {
        inside.set_value();
        go.get_future().wait();
      }
      std::lock_guard guard{mutex};
      order.emplace_back(run.organization, run.id);
      return run_outcome{scripted_backend::answer_for(run), true};
    });
    f.engine().submit(someone(), source_run(), first.handle(), {});
    inside.get_future().wait();
  }
  ~held_engine() { BOOST_TEST(first.get().has_value()); }

  static engine_options options() {
    engine_options o;
    o.threads = 1;
    o.admission.running = 10'000;
    o.admission.running_per_organization = 10'000;
    o.admission.running_per_other_backend = 10'000;
    return o;
  }

  auto send(const std::string& who, const run_id& id = run_id::make()) {
    execution what;
    what.who = someone(who);
    auto request = source_run();
    request.id = id;
    what.request = std::make_shared<const run_request>(std::move(request));
    return self->request(gate, 60s, run_v, std::move(what));
  }
};

constexpr std::size_t flood = 2'000;

void ignore(const caf::error&) {}

} // namespace

BOOST_AUTO_TEST_CASE(lets_a_single_run_pass_a_flood) {
  held_engine e;
  std::vector<decltype(e.send(crowded))> answers;
  for (std::size_t i = 0; i < flood; ++i)
    answers.push_back(e.send(crowded));
  answers.push_back(e.send(lonely));
  e.go.set_value();
  std::size_t succeeded = 0;
  for (auto& answer : answers)
    answer.receive(
      [&](const run_answer& a) {
        succeeded += a.result->status == run_status::success;
      },
      ignore);
  BOOST_TEST(succeeded == answers.size());
  const auto turn = std::ranges::find(e.order, organization_id{lonely},
                                      [](const auto& x) { return x.first; })
    - e.order.begin();
  BOOST_TEST(turn < 2 * flow_control::most);
}

BOOST_AUTO_TEST_CASE(ends_what_is_cancelled_in_the_line) {
  held_engine e;
  std::vector<decltype(e.send(crowded))> answers;
  for (std::size_t i = 0; i < flood; ++i)
    answers.push_back(e.send(crowded));
  run_reference which;
  which.id = run_id::make().str();
  which.organization = crowded;
  auto last = e.send(crowded, run_id{which.id});
  auto foreign = which;
  foreign.organization = lonely;
  auto denied = e.self->request(e.gate, 60s, cancel_v, foreign);
  auto noted = e.self->request(e.gate, 60s, cancel_v, which);
  e.go.set_value();
  bool refused = false;
  denied.receive([](const run_status_message&) {},
                 [&](const caf::error&) { refused = true; });
  BOOST_TEST(refused);
  std::string known;
  noted.receive(
    [&](const run_status_message& n) { known = to_record(n).id.str(); },
    ignore);
  BOOST_TEST(known == which.id);
  auto reason = exit_reason::exited;
  last.receive([&](const run_answer& a) { reason = a.result->reason; }, ignore);
  BOOST_TEST((reason == exit_reason::cancelled));
  for (auto& answer : answers)
    answer.receive([](const run_answer&) {}, ignore);
  BOOST_TEST(e.order.size() == flood + 1);
}

BOOST_AUTO_TEST_CASE(answers_those_in_the_line_when_it_stops) {
  held_engine e;
  std::vector<decltype(e.send(crowded))> answers;
  for (std::size_t i = 0; i < flood; ++i)
    answers.push_back(e.send(crowded));
  caf::anon_send_exit(e.gate, caf::exit_reason::user_shutdown);
  e.go.set_value();
  std::size_t ran = 0, told = 0;
  for (auto& answer : answers)
    answer.receive([&](const run_answer&) { ++ran; },
                   [&](const caf::error& why) {
                     told += from_caf(why).code == ec::unavailable;
                   });
  BOOST_TEST(ran + told == flood);
  BOOST_TEST(told > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
