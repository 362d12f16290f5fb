#include "runtime/model/codec/limit_notes.hpp"
#include "runtime/model/run.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_words)

BOOST_AUTO_TEST_CASE(spells_every_exit_reason_once) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(exit_reason::lost); ++i) {
    auto r = static_cast<exit_reason>(i);
    BOOST_TEST(seen.insert(to_string(r)).second);
    BOOST_TEST((*parse_exit_reason(to_string(r)) == r));
  }
  BOOST_TEST(seen.size() == 13u);
  BOOST_TEST(parse_exit_reason("exploded").has_error());
}

BOOST_AUTO_TEST_CASE(spells_isolation_levels_both_ways) {
  for (auto l : {isolation_level::strict, isolation_level::standard,
                 isolation_level::best_effort, isolation_level::off})
    BOOST_TEST((*parse_isolation(to_string(l)) == l));
  BOOST_TEST((*parse_isolation("best-effort") == isolation_level::best_effort));
  BOOST_TEST(parse_isolation("none").has_error());
}

BOOST_AUTO_TEST_CASE(spells_the_small_sets) {
  BOOST_TEST(to_string(run_kind::command) == "command");
  BOOST_TEST(to_string(run_status::success) == "success");
  BOOST_TEST(to_string(layer_state::degraded) == "degraded");
  BOOST_TEST(to_string(network_mode::open) == "public");
}

BOOST_AUTO_TEST_CASE(never_lets_anybody_exceed_the_ceiling) {
  limits base, ceiling;
  ceiling.memory_bytes = 100;
  ceiling.processes = 1000;
  limit_overrides said;
  said.wall = std::chrono::seconds{5};
  said.processes = 2000;
  auto l = apply(base, said, ceiling);
  BOOST_TEST((l.wall == std::chrono::seconds{5}));
  BOOST_TEST(l.memory_bytes == 100u);
  BOOST_TEST(l.processes == 1000u);
  BOOST_TEST(l.open_files == base.open_files);
  const auto notes = notes_on_lowered(said, l);
  BOOST_REQUIRE(notes.size() == 1u);
  BOOST_TEST(notes[0].starts_with("limits.processes is 1000, not 2000: "));
  BOOST_TEST(notes_on_lowered({}, l).empty());
}

BOOST_AUTO_TEST_SUITE_END()
