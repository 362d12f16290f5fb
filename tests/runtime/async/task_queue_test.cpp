#include "runtime/async/task_queue.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <thread>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(task_queue_suite)

namespace {

struct world {
  boost::asio::io_context io{1};
  std::shared_ptr<task_queue> box
    = std::make_shared<task_queue>(io.get_executor());
  std::vector<int> read;

  world() { box->open(); }
  void put(int n) {
    box->put([this, n] { read.push_back(n); });
  }
  void put_end() {
    box->put([this] { box->close(); });
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(brings_letters_of_a_thread_in_their_order) {
  constexpr int writers = 4, each = 2'000;
  world w;
  std::vector<std::thread> threads;
  for (int t = 0; t < writers; ++t)
    threads.emplace_back([&w, t] {
      for (int i = 0; i < each; ++i)
        w.put(t * each + i);
    });
  std::thread ender{[&] {
    for (auto& t : threads)
      t.join();
    w.put_end();
  }};
  w.io.run(); // comes back when the box is closed
  ender.join();
  BOOST_REQUIRE(w.read.size() == std::size_t{writers * each});
  std::vector<int> last(writers, -1);
  for (int n : w.read) {
    BOOST_REQUIRE(last[n / each] < n % each);
    last[n / each] = n % each;
  }
}

BOOST_AUTO_TEST_CASE(lets_others_at_home_have_their_turn) {
  world w;
  w.box->put([&] {
    boost::asio::post(w.io, [&] { w.read.push_back(2); });
    w.put(3);
    w.put_end();
    w.read.push_back(1);
  });
  w.io.run();
  BOOST_TEST(w.read == (std::vector<int>{1, 2, 3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(brings_the_others_when_one_throws) {
  world w;
  w.box->put([] { throw std::runtime_error{"a bug"}; });
  w.put(1);
  w.put_end();
  BOOST_CHECK_THROW(w.io.run(), std::runtime_error);
  w.io.run();
  BOOST_TEST(w.read == std::vector<int>{1}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(loses_nothing_when_it_closes) {
  world w;
  w.box->put([&] {
    w.put(1); // lies in the box when it closes
    w.box->close();
    w.put(2); // has to find another way
  });
  w.io.run();
  BOOST_TEST(w.read == (std::vector<int>{1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(takes_letters_before_it_opens) {
  boost::asio::io_context io{1};
  auto box = std::make_shared<task_queue>(io.get_executor());
  bool came = false;
  box->put([&] { came = true; });
  io.run();
  BOOST_TEST(came);
}

BOOST_AUTO_TEST_SUITE_END()
