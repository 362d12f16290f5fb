#include "runtime/model/sandbox.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

namespace troupe {

namespace {

std::vector<sandbox_state> all_states() {
  std::vector<sandbox_state> all;
  for (std::size_t i = 0; i < sandbox_states; ++i)
    all.push_back(static_cast<sandbox_state>(i));
  return all;
}

sandbox_record record_with(sandbox_state state) {
  sandbox_record r;
  r.id = sandbox_id::make();
  r.state = state;
  r.name = "web";
  r.metadata = {{"chat", "42"}, {"team", "blue"}};
  return r;
}

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_model)

BOOST_AUTO_TEST_CASE(an_id_is_one_label_of_a_host_name_and_never_the_same) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto id = sandbox_id::make();
    BOOST_TEST(id.str().size() == sandbox_id::length);
    BOOST_TEST(sandbox_id::parse(id.str()).has_value());
    seen.insert(id.str());
  }
  BOOST_TEST(seen.size() == 1'000u);
}

BOOST_AUTO_TEST_CASE(what_is_no_id_is_refused_with_what_one_looks_like) {
  for (const char* bad : {"", "abc", "ABCDEFGHIJKLMNOPQRSTUV",
                          "abcdefghijklmnopqrstu", "abcdefghijklmnopqrstuvw",
                          "abcdefghijk-mnopqrstuv", "../../etc/passwd/12345"}) {
    auto parsed = sandbox_id::parse(bad);
    BOOST_REQUIRE(!parsed);
    BOOST_TEST(parsed.error().text.find("22 lower case") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(every_state_has_a_name_that_reads_back) {
  std::set<std::string_view> names;
  for (auto s : all_states()) {
    auto back = parse_sandbox_state(to_string(s));
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((*back == s));
    names.insert(to_string(s));
  }
  BOOST_TEST(names.size() == sandbox_states);
  BOOST_TEST(!parse_sandbox_state("dead"));
}

BOOST_AUTO_TEST_CASE(from_every_state_there_is_a_way_to_deleted) {
  for (auto s : all_states()) {
    std::set<sandbox_state> reached{s};
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (auto from : std::set<sandbox_state>{reached})
        for (auto to : all_states())
          if (may_follow(from, to))
            reached.insert(to);
    }
    BOOST_TEST(reached.contains(sandbox_state::deleted), to_string(s));
  }
}

BOOST_AUTO_TEST_CASE(nothing_follows_deleted_and_no_state_follows_itself) {
  for (auto s : all_states()) {
    BOOST_TEST(!may_follow(sandbox_state::deleted, s), to_string(s));
    BOOST_TEST(!may_follow(s, s), to_string(s));
  }
}

BOOST_AUTO_TEST_CASE(a_live_sandbox_is_never_forgotten_without_deleting) {
  // What takes room at a place must be taken down there first.
  for (auto s : all_states())
    if (is_live(s) && s != sandbox_state::deleting)
      BOOST_TEST(!may_follow(s, sandbox_state::deleted), to_string(s));
}

BOOST_AUTO_TEST_CASE(deleting_wins_over_every_live_state) {
  for (auto s : all_states())
    if (is_live(s) && s != sandbox_state::deleting)
      BOOST_TEST(may_follow(s, sandbox_state::deleting), to_string(s));
}

BOOST_AUTO_TEST_CASE(states_on_the_way_to_another_one_have_a_bound) {
  for (auto s : {sandbox_state::creating, sandbox_state::pausing,
                 sandbox_state::resuming, sandbox_state::stopping,
                 sandbox_state::deleting})
    BOOST_TEST(longest_in(s).has_value(), to_string(s));
  for (auto s : {sandbox_state::running, sandbox_state::paused,
                 sandbox_state::stopped, sandbox_state::deleted})
    BOOST_TEST(!longest_in(s).has_value(), to_string(s));
}

BOOST_AUTO_TEST_CASE(a_filter_without_words_leaves_out_what_is_over) {
  sandbox_filter filter;
  BOOST_TEST(filter.accepts(record_with(sandbox_state::queued)));
  BOOST_TEST(filter.accepts(record_with(sandbox_state::running)));
  BOOST_TEST(!filter.accepts(record_with(sandbox_state::failed)));
  BOOST_TEST(!filter.accepts(record_with(sandbox_state::deleted)));
  filter.states = {sandbox_state::failed};
  BOOST_TEST(filter.accepts(record_with(sandbox_state::failed)));
  BOOST_TEST(!filter.accepts(record_with(sandbox_state::running)));
}

BOOST_AUTO_TEST_CASE(a_filter_wants_all_of_what_it_names) {
  const auto r = record_with(sandbox_state::running);
  sandbox_filter filter;
  filter.name = "web";
  filter.metadata = {{"chat", "42"}};
  BOOST_TEST(filter.accepts(r));
  filter.metadata["team"] = "red";
  BOOST_TEST(!filter.accepts(r));
  filter.metadata = {{"absent", ""}};
  BOOST_TEST(!filter.accepts(r));
}

BOOST_AUTO_TEST_CASE(a_signal_is_a_name_with_or_without_SIG_or_a_number) {
  BOOST_TEST(*parse_signal("TERM") == 15);
  BOOST_TEST(*parse_signal("SIGTERM") == 15);
  BOOST_TEST(*parse_signal("9") == 9);
  for (const char* bad : {"", "SIG", "term", "0", "-1", "64", "TERM "})
    BOOST_TEST(!parse_signal(bad), bad);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
