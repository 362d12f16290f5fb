#include "runtime/local/sandbox/call_wait.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <vector>

using namespace troupe;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(waits_for_a_call)

namespace {

struct waiters {
  boost::asio::io_context io;
  std::shared_ptr<call_wait> event
    = std::make_shared<call_wait>(io.get_executor());
  std::vector<bool> answers;

  void add(milliseconds time, std::shared_ptr<cancellation> cancel = {}) {
    auto wait = [](std::shared_ptr<call_wait> of, call_scope scope,
                   std::vector<bool>& to) -> boost::asio::awaitable<void> {
      to.push_back(co_await of->wait(std::move(scope)));
    };
    call_scope scope{std::chrono::steady_clock::now() + time,
                     std::move(cancel)};
    boost::asio::co_spawn(io, wait(event, std::move(scope), answers),
                          boost::asio::detached);
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(let_several_wait_without_waking_each_other) {
  waiters all;
  for (int i = 0; i < 3; ++i)
    all.add(milliseconds{60'000 + i});
  // Beginning to wait is all that there is to do.
  BOOST_TEST(all.io.run_for(milliseconds{20}) < 20u);
  BOOST_TEST(all.answers.empty());
  all.event->tell();
  all.io.restart();
  all.io.run();
  BOOST_TEST((all.answers == std::vector<bool>{true, true, true}));
}

BOOST_AUTO_TEST_CASE(end_by_themselves_or_when_they_are_cancelled) {
  waiters all;
  auto cancel = std::make_shared<cancellation>();
  all.add(milliseconds{1});
  all.add(milliseconds{60'000}, cancel);
  all.io.run_one();
  all.io.run_one();
  cancel->cancel();
  all.io.run();
  BOOST_TEST((all.answers == std::vector<bool>(2, false)));
  all.event->tell(); // none is there any more
  all.add(milliseconds{60'000});
  all.io.restart();
  all.io.run();
  BOOST_TEST(all.answers.back());
}

BOOST_AUTO_TEST_SUITE_END()
