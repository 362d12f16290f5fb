#include "actors/state/event_log.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(event_log_suite)

namespace {

struct reader {
  std::vector<run_event> seen;
  event_sink sink() {
    return [this](const run_event& e) {
      seen.push_back(e);
      return true;
    };
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(gives_a_late_reader_what_it_missed_and_then_the_rest) {
  event_log log;
  log.append(run_event_kind::accepted);
  log.append(run_event_kind::out, "a");
  reader r;
  log.subscribe(1, r.sink());
  log.append(run_event_kind::out, "b");
  log.end(nullptr, nullptr);
  BOOST_REQUIRE(r.seen.size() == 3u);
  BOOST_TEST(r.seen[0].data == "a");
  BOOST_TEST(r.seen[0].sequence == 2u);
  BOOST_TEST(r.seen[1].data == "b");
  BOOST_TEST((r.seen[2].kind == run_event_kind::end));
}

BOOST_AUTO_TEST_CASE(ends_once_and_takes_nothing_afterwards) {
  event_log log;
  reader r;
  log.subscribe(0, r.sink());
  log.end(nullptr, nullptr);
  log.end(nullptr, nullptr);
  log.append(run_event_kind::out, "late");
  BOOST_TEST(r.seen.size() == 1u);
  reader late;
  log.subscribe(0, late.sink());
  BOOST_TEST(late.seen.size() == 1u);
}

BOOST_AUTO_TEST_CASE(forgets_the_oldest_and_says_how_much) {
  event_log log{{.events = 100, .bytes = 10, .subscribers = 4, .chunk = 4}};
  for (int i = 0; i < 10; ++i)
    log.append(run_event_kind::out, "1234");
  reader r;
  log.subscribe(0, r.sink());
  BOOST_REQUIRE(r.seen.size() == 3u);
  BOOST_TEST((r.seen[0].kind == run_event_kind::progress));
  BOOST_TEST(r.seen[0].sequence == 8u);
  BOOST_TEST(r.seen[0].data.find("8 events") == 0u);
  BOOST_TEST(r.seen[1].sequence == 9u);
  BOOST_TEST(log.bytes() <= 10u);
}

BOOST_AUTO_TEST_CASE(cuts_a_long_write_into_pieces) {
  event_log log{{.chunk = 3}};
  reader r;
  log.subscribe(0, r.sink());
  log.append(run_event_kind::err, "abcdefgh");
  BOOST_REQUIRE(r.seen.size() == 3u);
  BOOST_TEST(r.seen[2].data == "gh");
}

BOOST_AUTO_TEST_CASE(drops_a_reader_that_leaves_or_throws) {
  event_log log;
  int polite = 0, rude = 0;
  log.subscribe(0, [&](const run_event&) { return ++polite < 2; });
  log.subscribe(0, [&](const run_event&) -> bool {
    ++rude;
    throw std::runtime_error{"reader"};
  });
  for (int i = 0; i < 5; ++i)
    log.append(run_event_kind::out, "x");
  BOOST_TEST(polite == 2);
  BOOST_TEST(rude == 1);
}

BOOST_AUTO_TEST_SUITE_END()
