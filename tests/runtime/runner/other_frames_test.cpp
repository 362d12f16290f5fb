#include "runtime/base/base64.hpp"
#include "runtime/runner/legacy_frame.hpp"
#include "runtime/runner/stdout_frame.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace troupe::frame;

BOOST_AUTO_TEST_SUITE(other_frames)

namespace {

constexpr std::size_t limit = 1u << 20;
const std::string envelope = R"({"results": 3, "agent_state": null})";

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(
      std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16));
  return out;
}

message answer_of(std::string body) {
  message m;
  m.what = kind::answer;
  m[part::body] = std::move(body);
  return m;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_known_legacy_vector_is_read_and_written) {
  auto vector = bytes_of(
    "92c8e49843d35fb3919da69eb3e5c5c6"
    "00000023"
    "6563633466323363393239613565313739343362396561363164643637633430"
    "7b22726573756c7473223a20332c20226167656e745f7374617465223a206e756c6c7d");
  BOOST_TEST(write_legacy_frame(envelope) == vector);
  auto read = read_legacy_frame("before " + vector + " after", limit).value();
  BOOST_TEST(read.found);
  BOOST_TEST(read.envelope == envelope);
  BOOST_TEST(read.text == "before  after");
  auto text = read_legacy_text(
    "eyJyZXN1bHRzIjogMywgImFnZW50X3N0YXRlIjogbnVsbH0=", limit);
  BOOST_TEST(text.value() == envelope);
  BOOST_TEST(read_legacy_text(envelope, limit).value() == envelope);
}

BOOST_AUTO_TEST_CASE(output_without_a_legacy_frame_is_text) {
  auto read = read_legacy_frame("just text \xff", limit).value();
  BOOST_TEST(!read.found);
  BOOST_TEST(read.text == "just text \xff");
}

BOOST_AUTO_TEST_CASE(a_broken_legacy_frame_is_an_error) {
  auto frame = write_legacy_frame(envelope);
  for (std::size_t n = 16; n < frame.size(); ++n)
    BOOST_TEST(read_legacy_frame(frame.substr(0, n), limit).has_error());
  auto flipped = frame;
  flipped.back() = 'x';
  BOOST_TEST(read_legacy_frame(flipped, limit).has_error());
  BOOST_TEST(read_legacy_frame(frame, envelope.size() - 1).has_error());
}

BOOST_AUTO_TEST_CASE(base64_is_read_strictly) {
  for (std::size_t n = 0; n < 300; ++n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i)
      bytes += static_cast<char>(i * 37 + n);
    BOOST_TEST(from_base64(to_base64(bytes)).value() == bytes);
  }
  BOOST_TEST(to_base64("foobar") == "Zm9vYmFy");
  BOOST_TEST(to_base64("foob") == "Zm9vYg==");
  for (const auto* bad : {"Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Zm 9",
                          "Zg==Zg==", "====", "Zm9v\n", "Zm9-"})
    BOOST_TEST(from_base64(bad).has_error());
}

BOOST_AUTO_TEST_CASE(a_keyed_frame_is_found_among_prints) {
  auto key = make_key().value();
  auto line = write_keyed_frame(answer_of("42"), key).value();
  auto read = read_keyed_frame("print" + line + "after\n", key, limit).value();
  BOOST_REQUIRE(read.frame.has_value());
  BOOST_TEST((*read.frame)[part::body] == "42");
  BOOST_TEST(read.text == "printafter\n");
}

BOOST_AUTO_TEST_CASE(frames_with_another_key_are_just_text) { // S4
  auto key = make_key().value();
  auto forged
    = write_keyed_frame(answer_of("\"forged\""), make_key().value()).value();
  auto line = write_keyed_frame(answer_of("1"), key).value();
  auto read = read_keyed_frame(forged + line, key, limit).value();
  BOOST_TEST((*read.frame)[part::body] == "1");
  BOOST_TEST(!read_keyed_frame(forged, key, limit).value().frame.has_value());
}

BOOST_AUTO_TEST_CASE(a_broken_keyed_frame_is_an_error) {
  auto key = make_key().value();
  auto line = write_keyed_frame(answer_of("1"), key).value();
  auto begin = line.find(key) + key.size();
  for (std::size_t n = begin + 1; n < line.size() - 2; ++n)
    BOOST_TEST(read_keyed_frame(line.substr(0, n), key, limit).has_error());
  BOOST_TEST(read_keyed_frame(line, key, 32).has_error());
  BOOST_TEST(
    read_keyed_frame("=troupe:" + key + ":99999999999999999999:x=", key, limit)
      .has_error());
  BOOST_TEST(
    read_keyed_frame("=troupe:" + key + ":-1:x=", key, limit).has_error());
}

BOOST_AUTO_TEST_CASE(keys_do_not_repeat) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i)
    keys.insert(make_key().value());
  BOOST_TEST(keys.size() == 100u);
  BOOST_TEST(keys.begin()->size() == 32u);
}

BOOST_AUTO_TEST_SUITE_END()
