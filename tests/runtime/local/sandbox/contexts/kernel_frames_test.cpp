#include "runtime/local/sandbox/contexts/kernel_frames.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::kernels {

namespace {

using status = frame_reader::status;

/// What becomes of a stream that comes in pieces of so many bytes.
std::vector<frame> frames_in(std::string_view bytes, std::size_t piece,
                             status& last) {
  frame_reader reader;
  std::vector<frame> all;
  last = status::partial;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.append(bytes.substr(at, piece));
    for (frame next;;) {
      last = reader.next(next);
      if (last != status::whole)
        break;
      all.push_back(next);
    }
    if (last == status::broken)
      break;
  }
  return all;
}

status status_of(std::string_view bytes) {
  auto last = status::partial;
  frames_in(bytes, bytes.size(), last);
  return last;
}

frame event_frame(std::string word,
                  std::vector<std::pair<std::string, std::string>> parts) {
  return {std::move(word), std::move(parts)};
}

} // namespace

BOOST_AUTO_TEST_SUITE(kernel_frames)

BOOST_AUTO_TEST_CASE(what_is_encoded_is_read_in_pieces_of_any_size) {
  const frame first{"display", {{"id", "a"}, {"text/plain", "x\ny 1:2"}}};
  const frame second{"ready", {}};
  const auto bytes = encode(first) + encode(second);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    status last{};
    const auto all = frames_in(bytes, piece, last);
    BOOST_REQUIRE(all.size() == 2u);
    BOOST_TEST((all[0].word == "display"));
    BOOST_TEST((all[0].parts == first.parts));
    BOOST_TEST((all[1].word == "ready"));
    BOOST_TEST(all[1].parts.empty());
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_not_a_frame) {
  for (std::string_view bad :
       {"\n", "READY\n", "a b\n", "a b:\n", "a b:-1\n", "a b:1x\n", "a :1\n",
        "a  b:1\n", "abcdefghijklmnopqrstuvwxyz\n", "a \x01:1\n",
        "a b:99999999999999999999\n", "a b:16777217\n"})
    BOOST_TEST((status_of(bad) == status::broken), bad);
  BOOST_TEST((status_of(std::string(5'000, 'a')) == status::broken));
  BOOST_TEST((status_of("end status:2 count:1\nok") == status::partial));
}

BOOST_AUTO_TEST_CASE(parts_are_bounded_together_and_in_number) {
  BOOST_TEST((status_of("a b:16777216\n") == status::partial));
  BOOST_TEST((status_of("a b:16777216 c:1\n") == status::broken));
  std::string many = "a";
  for (std::size_t i = 0; i <= bounds::bundle_parts; ++i)
    many += " b:0";
  BOOST_TEST((status_of(many + "\n") == status::broken));
}

BOOST_AUTO_TEST_CASE(an_event_has_forms_and_nothing_else) {
  cell_event e;
  auto good = event_frame("result", {{"text/plain", "1"}});
  BOOST_TEST(read_event(good, e));
  BOOST_TEST((e.what == cell_event::kind::result));
  auto named = event_frame("update", {{"id", "a"}, {"text/html", "<b>"}});
  cell_event update;
  BOOST_TEST(read_event(named, update));
  BOOST_TEST(update.display_id == "a");
  auto nameless = event_frame("update", {{"text/html", "<b>"}});
  auto other = event_frame("result", {{"colour", "red"}});
  auto unknown = event_frame("begin", {});
  for (auto* bad : {&nameless, &other, &unknown}) {
    cell_event ignored;
    BOOST_TEST(!read_event(*bad, ignored));
  }
}

BOOST_AUTO_TEST_CASE(texts_become_utf8_and_json_has_to_be_json) {
  cell_event e;
  auto text = event_frame("display", {{"text/plain", "a\xff"}});
  BOOST_TEST(read_event(text, e));
  BOOST_TEST(e.data.at(0).second == "a\xef\xbf\xbd");
  cell_event ignored;
  auto broken = event_frame("display", {{"application/json", "{"}});
  BOOST_TEST(!read_event(broken, ignored));
  auto plotly
    = event_frame("display", {{"application/vnd.plotly.v1+json", "[1]"}});
  BOOST_TEST(read_event(plotly, ignored));
}

BOOST_AUTO_TEST_CASE(an_end_says_how_and_which) {
  cell_end end;
  BOOST_TEST(read_end(
    event_frame("end", {{"status", "interrupted"}, {"count", "7"}}), end));
  BOOST_TEST((end.status == cell_status::interrupted));
  BOOST_TEST(end.count == 7u);
  BOOST_TEST(!read_end(event_frame("end", {{"status", "ok"}}), end));
  BOOST_TEST(!read_end(
    event_frame("end", {{"status", "timeout"}, {"count", "1"}}), end));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::kernels
