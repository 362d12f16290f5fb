#include "app/cli/details.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(details)

namespace {

std::string shown(std::string_view text) {
  std::ostringstream out;
  print_details(out, json::parse(text).value());
  return out.str();
}

} // namespace

BOOST_AUTO_TEST_CASE(are_a_line_per_member_without_what_is_empty) {
  BOOST_TEST(shown(R"({"id": "run-1", "agent_id": null, "labels": {},
                       "notes": [], "cut": false, "phase": "ended"})")
             == "id     run-1\nphase  ended\n");
}

BOOST_AUTO_TEST_CASE(show_the_members_of_a_result_as_their_own) {
  BOOST_TEST(
    shown(R"({"id": "run-1", "result": {"id": "run-1", "value": {"a": 1},
                       "usage": {"wall_ms": 12, "cpu_ms": 3}}})")
    == "id     run-1\nvalue  {\"a\":1}\nusage  wall_ms 12, cpu_ms 3\n");
}

BOOST_AUTO_TEST_CASE(name_only_the_layers_that_are_not_enforced) {
  BOOST_TEST(shown(R"({"isolation": {"level": "standard", "layers": [
               {"name": "seccomp", "state": "enforced"},
               {"name": "landlock", "state": "absent"}]}})")
             == "isolation  standard; landlock absent\n");
  BOOST_TEST(shown(R"({"isolation": {"level": "strict", "layers": [
               {"name": "seccomp", "state": "enforced"}]}})")
             == "isolation  strict (every layer enforced)\n");
}

BOOST_AUTO_TEST_CASE(print_texts_of_several_lines_and_no_control_characters) {
  BOOST_TEST(shown(R"({"stdout": "one\ntwo\u001b[2J", "tags": ["a", "b"]})")
             == "stdout\n  one\n  two\\x1b[2J\ntags    a, b\n");
}

BOOST_AUTO_TEST_SUITE_END()
