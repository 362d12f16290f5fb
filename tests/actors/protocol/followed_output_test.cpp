// Questions about the output of a run that goes on, as they come over links.
#include "actors/protocol/followed_output.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(followed_output_suite)

namespace {

run_event event(run_event_kind kind, std::string data) {
  run_event e;
  e.kind = kind;
  e.data = std::move(data);
  return e;
}

run_status_message note_with(std::string next, std::string events) {
  run_status_message note;
  note.ext["next"] = std::move(next);
  note.ext["events"] = std::move(events);
  return note;
}

} // namespace

BOOST_AUTO_TEST_CASE(bytes_come_back_as_they_were) {
  followed_output what;
  what.next = 17;
  what.events = {event(run_event_kind::started, ""),
                 event(run_event_kind::out, std::string{"a:3\0\xff\n", 6}),
                 event(run_event_kind::end, "never told"),
                 event(run_event_kind::err, "3:o"),
                 event(run_event_kind::progress, "installing")};
  run_status_message note;
  put_output(note, what);
  const auto back = output_of(note);
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(back->next == 17u);
  BOOST_REQUIRE(back->events.size() == 4u);
  BOOST_TEST(((back->events[0].kind == run_event_kind::started)));
  BOOST_TEST(back->events[1].data == (std::string{"a:3\0\xff\n", 6}));
  BOOST_TEST(((back->events[2].kind == run_event_kind::err)));
  BOOST_TEST(back->events[2].data == "3:o");
  BOOST_TEST(back->events[3].data == "installing");
}

BOOST_AUTO_TEST_CASE(a_plain_question_follows_nothing) {
  BOOST_TEST(!follows_after(run_reference{}).has_value());
  const auto which = follow_run(run_id::make(), default_organization(), 12);
  BOOST_TEST(((follows_after(which) == std::uint64_t{12})));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_no_output) {
  BOOST_TEST(!output_of(run_status_message{}).has_value());
  BOOST_TEST(output_of(note_with("1", "")).has_value());
  for (auto next : {"", "-1", "1x", "99999999999999999999999"})
    BOOST_TEST(!output_of(note_with(next, "")).has_value(), next);
  for (auto events : {"o", "o5", "o5:hell", "x1:a", ":", "o:", "o-1:a", "o1:ae",
                      "o18446744073709551616:a", "a1:a"})
    BOOST_TEST(!output_of(note_with("1", events)).has_value(), events);
}

BOOST_AUTO_TEST_SUITE_END()
