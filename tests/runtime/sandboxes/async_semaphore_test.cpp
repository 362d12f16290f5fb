#include "runtime/sandboxes/async_semaphore.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// Who got a place, in order, and who did not.
struct fixture {
  asio::io_context io{1};
  std::vector<int> got;
  std::vector<int> went;

  static call_scope until(std::chrono::milliseconds limit) {
    return {std::chrono::steady_clock::now() + limit, nullptr};
  }
  asio::awaitable<void> come(async_semaphore& all, int who, call_scope scope) {
    auto in = co_await all.take(std::move(scope));
    (in ? got : went).push_back(who);
  }
  void send(async_semaphore& all, int who, call_scope scope) {
    asio::co_spawn(io, come(all, who, std::move(scope)), asio::detached);
  }
  /// Whatever can happen without waiting.
  void settle() {
    io.restart();
    io.poll();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(places_at_a_time, fixture)

BOOST_AUTO_TEST_CASE(are_handed_over_in_the_order_of_coming) {
  async_semaphore two{io.get_executor(), 2};
  for (int who = 1; who <= 4; ++who)
    send(two, who, until(10s));
  settle();
  BOOST_TEST((got == std::vector{1, 2}));
  BOOST_TEST(two.full());
  BOOST_TEST(two.awaited());
  two.leave();
  send(two, 5, until(10s)); // nobody gets in between
  settle();
  BOOST_TEST((got == std::vector{1, 2, 3}));
  for (int i = 0; i < 3; ++i)
    two.leave();
  settle();
  BOOST_TEST((got == std::vector{1, 2, 3, 4, 5}));
  BOOST_TEST(two.taken() == 1u);
  two.leave();
  BOOST_TEST(two.taken() == 0u);
  BOOST_TEST(!two.awaited());
}

BOOST_AUTO_TEST_CASE(are_not_waited_for_beyond_the_deadline) {
  async_semaphore one{io.get_executor(), 1};
  send(one, 1, until(10s));
  send(one, 2, until(10ms));
  send(one, 3, until(10s));
  send(one, 4, until(-1ms));
  io.run_for(50ms);
  BOOST_TEST((got == std::vector{1}));
  BOOST_TEST((went == std::vector{4, 2}));
  one.leave();
  settle();
  BOOST_TEST((got == std::vector{1, 3}));
}

BOOST_AUTO_TEST_CASE(go_on_to_the_next_when_who_waited_was_called_off) {
  async_semaphore one{io.get_executor(), 1};
  auto scope = until(10s);
  scope.cancel = std::make_shared<cancellation>();
  send(one, 1, until(10s));
  send(one, 2, scope);
  send(one, 3, until(10s));
  settle();
  one.leave(); // to the second, who is called off before he knows of it
  scope.cancel->cancel();
  settle();
  BOOST_TEST((got == std::vector{1, 3}));
  BOOST_TEST((went == std::vector{2}));
  BOOST_TEST(one.taken() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
