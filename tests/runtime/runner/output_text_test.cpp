#include "runtime/model/value_notes.hpp"
#include "runtime/runner/output_text.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(output_texts)

BOOST_AUTO_TEST_CASE(says_which_bytes_are_no_text) {
  run_result r;
  set_output(r, "a\xff", "fine");
  BOOST_TEST(r.stdout_text == "a\xef\xbf\xbd");
  BOOST_TEST(r.stderr_text == "fine");
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0] == not_utf8_note);
}

BOOST_AUTO_TEST_CASE(says_nothing_of_text_or_of_a_character_cut_at_the_limit) {
  run_result whole;
  set_output(whole, "\xc3\xa9", "");
  BOOST_TEST(whole.notes.empty());
  run_result cut;
  cut.stdout_truncated = true;
  set_output(cut, "a\xc3", "");
  BOOST_TEST(cut.notes.empty());
}

BOOST_AUTO_TEST_SUITE_END()
