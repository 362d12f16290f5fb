#include "actors/caf/actor_system.hpp"
#include "actors/caf/scheduler_policy.hpp"

#include <caf/all.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(quiet_sharing_suite)

namespace {

using go_atom = caf::atom_constant<caf::atom("go")>;

using thread_number = std::uint64_t;

thread_number this_thread() {
  return std::hash<std::thread::id>{}(std::this_thread::get_id());
}

/// Tells the thread that it runs on. CAF wants an argument: it looks at where
/// they are when there are none, which our builds do not let pass.
caf::behavior teller(caf::event_based_actor*, int) {
  return {[](go_atom) { return this_thread(); }};
}

thread_number actor_thread(const caf::actor& who) {
  caf::scoped_actor self{who.home_system()};
  thread_number told = 0;
  self->request(who, caf::infinite, go_atom::value)
    .receive([&](thread_number n) { told = n; },
             [](const caf::error&) { BOOST_ERROR("no answer"); });
  return told;
}

thread_number socket_thread(io_thread& sockets) {
  std::promise<thread_number> told;
  boost::asio::post(sockets.executor(), [&] { told.set_value(this_thread()); });
  return told.get_future().get();
}

} // namespace

BOOST_AUTO_TEST_CASE(serves_sockets_and_actors_with_one_thread) {
  io_thread sockets;
  const auto own = socket_thread(sockets);
  {
    system_config config{1, false, &sockets};
    caf::actor_system system{config};
    auto who = system.spawn(teller, 0);
    const auto shared = actor_thread(who);
    BOOST_TEST(shared != own);
    BOOST_TEST(socket_thread(sockets) == shared);
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  }
  BOOST_TEST(socket_thread(sockets) == own);
}

BOOST_AUTO_TEST_CASE(wakes_the_first_thread_for_every_letter) {
  io_thread sockets;
  system_config config{1, false, &sockets};
  caf::actor_system system{config};
  auto who = system.spawn(teller, 0);
  for (int i = 0; i < 1'000; ++i) // each finds it asleep, or nearly so
    actor_thread(who);
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
}

BOOST_AUTO_TEST_CASE(does_not_let_sockets_wait_for_busy_actors) {
  io_thread sockets;
  system_config config{1, false, &sockets};
  caf::actor_system system{config};
  std::atomic<bool> seen{false};
  std::promise<void> over;
  // Has always one more letter to itself, until the sockets had their turn.
  auto busy = system.spawn(
    [&](caf::event_based_actor* self, int) -> caf::behavior {
      return {[&, self](go_atom) {
        if (seen) {
          over.set_value();
          return self->quit();
        }
        self->send(self, go_atom::value);
      }};
    },
    0);
  caf::anon_send(busy, go_atom::value);
  boost::asio::post(sockets.executor(), [&] { seen = true; });
  over.get_future().get();
}

BOOST_AUTO_TEST_CASE(has_others_help_when_the_first_is_busy_with_a_socket) {
  io_thread sockets;
  system_config config{2, false, &sockets};
  caf::actor_system system{config};
  auto who = system.spawn(teller, 0);
  std::promise<void> inside, go;
  boost::asio::post(sockets.executor(), [&] {
    inside.set_value();
    go.get_future().get();
  });
  inside.get_future().get();
  const auto other = actor_thread(who);
  go.set_value();
  BOOST_TEST(socket_thread(sockets) != other);
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
}

BOOST_AUTO_TEST_CASE(leaves_sockets_alone_that_serve_another_system) {
  io_thread sockets;
  system_config first{1, false, &sockets}, second{1, false, &sockets};
  caf::actor_system one{first};
  auto a = one.spawn(teller, 0);
  const auto served = actor_thread(a);
  caf::actor_system two{second};
  auto b = two.spawn(teller, 0);
  BOOST_TEST(actor_thread(b) != served);
  BOOST_TEST(socket_thread(sockets) == served);
  for (const auto& who : {a, b})
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
}

BOOST_AUTO_TEST_SUITE_END()
