#include "runtime/async/io_thread.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(io_thread_suite)

namespace {

/// Which thread does what is posted there.
std::thread::id worker_of(io_thread& io) {
  std::promise<std::thread::id> told;
  boost::asio::post(io.executor(),
                    [&] { told.set_value(std::this_thread::get_id()); });
  return told.get_future().get();
}

} // namespace

BOOST_AUTO_TEST_CASE(has_a_thread_of_its_own) {
  io_thread io;
  const auto first = worker_of(io);
  BOOST_TEST((first != std::this_thread::get_id()));
  BOOST_TEST((worker_of(io) == first));
}

BOOST_AUTO_TEST_CASE(lets_one_other_take_its_place_and_goes_on_after) {
  io_thread io;
  const auto own = worker_of(io);
  BOOST_REQUIRE(io.take());
  BOOST_TEST(!io.take());
  std::thread::id here;
  boost::asio::post(io.executor(), [&] { here = std::this_thread::get_id(); });
  io.serve_one();
  BOOST_TEST((here == std::this_thread::get_id()));
  io.give_back();
  BOOST_TEST((worker_of(io) == own));
  BOOST_TEST(io.take()); // again
  io.give_back();
}

BOOST_AUTO_TEST_CASE(does_what_is_ready_without_waiting) {
  io_thread io;
  BOOST_REQUIRE(io.take());
  io.serve_ready();
  int done = 0;
  for (int i = 0; i < 3; ++i)
    boost::asio::post(io.executor(), [&] { ++done; });
  io.serve_ready();
  BOOST_TEST(done == 3);
  io.give_back();
}

BOOST_AUTO_TEST_CASE(can_be_woken_from_any_thread) {
  io_thread io;
  BOOST_REQUIRE(io.take());
  for (int i = 0; i < 100; ++i) {
    std::thread other{[&] { io.wake(); }};
    io.serve_one(); // would wait for ever
    other.join();
  }
  io.give_back();
}

BOOST_AUTO_TEST_CASE(does_its_own_letters_at_once_between_two_events) {
  io_thread io;
  auto box = std::make_shared<task_queue>(io.executor());
  box->open();
  BOOST_REQUIRE(io.take());
  std::vector<int> done;
  box->put([&] { done.push_back(1); });
  BOOST_TEST(done.size() == 1u);
  boost::asio::post(io.executor(), [&] { // inside of one it has to wait
    box->put([&] { done.push_back(3); });
    done.push_back(2);
  });
  while (done.size() < 3)
    io.serve_one();
  box->put([&] { // inside of a task, too
    box->put([&] { done.push_back(5); });
    done.push_back(4);
  });
  while (done.size() < 5)
    io.serve_one();
  box->put([&] { done.push_back(6); });
  BOOST_TEST(done.size() == 6u);
  io.give_back();
  box->put([&] { done.push_back(7); });
  std::promise<void> over;
  box->put([&] { over.set_value(); });
  over.get_future().get();
  BOOST_TEST(done == (std::vector<int>{1, 2, 3, 4, 5, 6, 7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(changes_hands_as_often_as_anybody_likes) {
  io_thread io;
  std::atomic<int> done{0};
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    boost::asio::post(io.executor(), [&] { ++done; });
    if (io.take())
      io.give_back();
  }
  worker_of(io);
  BOOST_TEST(done == rounds);
}

BOOST_AUTO_TEST_CASE(ends_while_it_is_taken) {
  io_thread io;
  BOOST_TEST(io.take());
}

BOOST_AUTO_TEST_SUITE_END()
