#include "actors/sandbox/live_process.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

namespace troupe {

BOOST_AUTO_TEST_SUITE(live_processes)

namespace {

/// A process at a place, which remembers what it was told.
struct told_process final : sandbox_process {
  std::int32_t pid() const override { return 7; }
  result<void> write(std::string) override { return {}; }
  void close_input() override {}
  result<void> signal(std::int32_t number) override {
    signals.push_back(number);
    return {};
  }
  std::vector<std::int32_t> signals;
};

struct watched_process {
  boost::asio::io_context io;
  live_process_ptr process = std::make_shared<live_process>(
    process_spec{}, sandbox_rules{}, io.get_executor());

  std::optional<sandbox_result<void>> signal(std::int32_t number) {
    auto came = std::make_shared<std::optional<sandbox_result<void>>>();
    process->signal(number,
                    [came](sandbox_result<void> r) { *came = std::move(r); });
    io.restart();
    io.run();
    return *came;
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(one_that_is_killed_before_it_begins_is_killed_then) {
  watched_process watched;
  BOOST_TEST(watched.signal(SIGTERM)->error().text.find("not begun")
             != std::string::npos);
  BOOST_TEST(watched.signal(SIGKILL)->has_value());
  auto at_place = std::make_shared<told_process>();
  watched.process->begun(at_place);
  BOOST_TEST((at_place->signals == std::vector<std::int32_t>{SIGKILL}));
}

BOOST_AUTO_TEST_CASE(one_that_is_killed_before_its_call_begins_has_none) {
  watched_process watched;
  BOOST_TEST(watched.signal(SIGKILL)->has_value());
  auto call = std::make_shared<cancellation>();
  watched.process->begun_as_call(call);
  BOOST_TEST(call->cancelled());
}

BOOST_AUTO_TEST_CASE(readers_that_have_gone_keep_none_out) {
  watched_process watched;
  int told = 0;
  const auto read = [&](std::function<void()> then) {
    return watched.process->when_more({}, std::move(then)).has_value();
  };
  for (int i = 0; i < 64; ++i)
    BOOST_REQUIRE(read([&told] { ++told; }));
  BOOST_TEST(read([] {}));
  BOOST_TEST(told == 64);
}

BOOST_AUTO_TEST_CASE(readers_that_stay_are_bounded) {
  watched_process watched;
  // Each comes back as soon as it is told, as a stream does.
  std::function<void()> stay
    = [&] { (void)watched.process->when_more({}, stay); };
  for (int i = 0; i < 64; ++i)
    stay();
  auto one_more = watched.process->when_more({}, [] {});
  BOOST_REQUIRE(!one_more);
  BOOST_TEST((one_more.error().code == ec::exhausted));
  stay = [] {};
  watched.process->is_lost(process_reason::lost);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
