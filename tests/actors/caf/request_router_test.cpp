#include "actors/caf/actor_system.hpp"
#include "actors/caf/request.hpp"
#include "actors/protocol/messages.hpp"
#include "tests/support/engine/engine_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(router_suite)

namespace {

struct deaf_state {
  std::vector<caf::response_promise> kept;
};

/// Says who it is, and nothing else ever.
gateway_actor::behavior_type
deaf(gateway_actor::stateful_pointer<deaf_state> self, hello us) {
  auto note = [self]() -> caf::result<run_status_message> {
    self->state.kept.push_back(self->make_response_promise());
    return caf::delegated<run_status_message>{};
  };
  return {
    [self](run_atom, execution&) -> caf::result<run_answer> {
      self->state.kept.push_back(self->make_response_promise());
      return caf::delegated<run_answer>{};
    },
    [note](start_atom, execution&) { return note(); },
    [note](cancel_atom, const run_reference&) { return note(); },
    [note](find_atom, const run_reference&) { return note(); },
    [us](hello_atom, const hello&) { return us; },
  };
}

} // namespace

BOOST_AUTO_TEST_CASE(fails_what_was_not_answered_by_its_time) {
  system_config config{1};
  caf::actor_system system{config};
  request_router router{system};
  auto nobody = system.spawn(deaf, hello{});
  const auto now = std::chrono::steady_clock::now();
  answer<run_status_message> due, later;
  for (auto [box, until] : {std::pair{&due, now + std::chrono::seconds{1}},
                            {&later, now + std::chrono::seconds{2}}})
    ask<run_status_message>(router, {1, caf::message_priority::normal, until},
                            nobody, box->handle(), find_v, run_reference{});
  router.expire(now);
  BOOST_TEST(router.size() == 2u);
  router.expire(now + std::chrono::seconds{1});
  auto told = due.get();
  BOOST_REQUIRE(!told.has_value());
  BOOST_TEST((told.error().code == ec::timeout));
  BOOST_TEST(router.size() == 1u);
  BOOST_TEST(!later.is_there());
  caf::anon_send_exit(nobody, caf::exit_reason::kill);
}

BOOST_AUTO_TEST_SUITE_END()
